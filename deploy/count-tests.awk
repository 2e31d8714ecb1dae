# Reads `ctest --verbose`, with -j too: each line of a test starts with its number. Prints "<passed> <failed>". A
# Criterion binary counts its own tests; any other test is one.
function finish(n, result) {
  if (tests[n] > 0) { passed += ok[n]; failed += tests[n] - ok[n] } # crashed ones are in tests, not in ok
  else if (summary[n] && result == "Passed") skipped++ # each of its tests was
  else if (result == "Passed") passed++
  else if (result == "Skipped") skipped++
  else failed++
  if (tests[n] > 0 && result != "Passed" && tests[n] == ok[n]) failed++ # died after its summary
  delete open[n]
}
/^ *Start +[0-9]+:/ { number = $2 + 0; open[number] = 1 }
/^[0-9]+: .*Synthesis: Tested: / {
  number = $1 + 0
  summary[number] = 1
  line = $0
  gsub(/\033\[[0-9;]*m/, "", line)
  sub(/.*Tested: */, "", line); split(line, part, /[^0-9]+/)
  tests[number] += part[1]; ok[number] += part[2]
}
/^ *[0-9]+\/[0-9]+ Test +#/ {
  number = $0
  sub(/^[^#]*#/, "", number)
  number += 0
  finish(number, /Passed/ ? "Passed" : /Skipped/ ? "Skipped" : "Failed")
}
END {
  for (n in open) finish(n, "Failed") # ctest itself died
  print passed + 0, failed + 0
}
