#!python
# Starts the program beside this file under the name of this file.
import os
import sys

here, name = os.path.split(os.path.realpath(__file__))
os.execv(os.path.join(here, "fleet"), [name, *sys.argv[1:]])
