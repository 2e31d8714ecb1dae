# Reads `ctest --verbose`; prints "<passed> <failed>". A Criterion binary counts its own tests; any other test is one.
function flush_test() {
  if (!open) return
  if (tests > 0) { passed += ok; failed += tests - ok } # crashed ones are in tests, not in ok
  else if (summary && result == "Passed") skipped++ # each of its tests was
  else if (result == "Passed") passed++
  else if (result == "Skipped") skipped++
  else failed++
  if (tests > 0 && result != "Passed" && tests == ok) failed++ # died after its summary
  open = 0
}
/^ *Start +[0-9]+:/ { flush_test(); open = 1; tests = ok = summary = 0; result = "Failed" }
/Synthesis: Tested: / {
  summary = 1
  line = $0
  gsub(/\033\[[0-9;]*m/, "", line)
  sub(/.*Tested: */, "", line); split(line, part, /[^0-9]+/)
  tests += part[1]; ok += part[2]
}
/^ *[0-9]+\/[0-9]+ Test +#/ {
  result = /Passed/ ? "Passed" : /Skipped/ ? "Skipped" : "Failed"
  flush_test()
}
END { flush_test(); print passed + 0, failed + 0 }
