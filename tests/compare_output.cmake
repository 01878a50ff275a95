# Runs PROGRAM in DIRECTORY; fails unless it succeeds and prints exactly what the file EXPECTED holds.
execute_process(COMMAND ${PROGRAM} WORKING_DIRECTORY ${DIRECTORY} OUTPUT_VARIABLE printed RESULT_VARIABLE code)
file(READ ${EXPECTED} expected)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "exit status ${code}")
endif()
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "printed:\n${printed}\nexpected:\n${expected}")
endif()
