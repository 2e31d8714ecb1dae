/* Every command, in the order of the manual. A row is the file cli/commands/<name>.c, which defines command_<name>; the
 * build makes a manual page of each but the hidden ones, which are in no list either. CMake reads the rows too: one a
 * line, nothing before it. No include guard: include it with COMMAND(name) and HIDDEN_COMMAND(name) defined; they end
 * here. */
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
