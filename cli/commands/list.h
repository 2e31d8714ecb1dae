/* Lists the commands, in the order of the manual. For each row, cli/commands/<name>.c defines command_<name>. The build
 * makes a manual page for each command that is not hidden. Hidden commands are in no list for users.
 *
 * CMake reads the rows too, so each must begin a line of its own. There is no include guard: define COMMAND(name) and
 * HIDDEN_COMMAND(name) before each inclusion; this file undefines them. */
COMMAND(check)
COMMAND(explain)
COMMAND(fix)
COMMAND(replay)
COMMAND(diff)
COMMAND(report)
COMMAND(eval)
COMMAND(calibrate)
COMMAND(feedback)
COMMAND(examples)
COMMAND(link)
COMMAND(train)
COMMAND(mutate)
COMMAND(words)
COMMAND(doctor)
COMMAND(signals)
COMMAND(index)
COMMAND(parse)
COMMAND(topics)
COMMAND(coordinator)
COMMAND(serve)
COMMAND(mcp)
COMMAND(worker)
COMMAND(dlq)
COMMAND(config)
HIDDEN_COMMAND(docs)
#undef COMMAND
#undef HIDDEN_COMMAND
