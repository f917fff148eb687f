# SPDX-License-Identifier: Apache-2.0
#
# In place of spark-submit: runs the session with the stand-in for Spark. What it and its workers print
# goes to a file, too.
import os
import runpy
import sys

said = os.open(os.environ["DISCREET_TEST_SAID"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
os.dup2(said, 1)
os.dup2(said, 2)
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import pyspark

pyspark.WORKER[0] = sys.argv[sys.argv.index("--files") + 1]
script, sys.argv = sys.argv[-2], sys.argv[-2:]
runpy.run_path(script, run_name="__main__")
