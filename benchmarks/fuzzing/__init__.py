"""Fuzzing: damaged and hostile inputs of every format, made by the thousand and read in watched processes.

`formats` lists what there is; each format is a class with `make`, which returns an input, and `run`, which reads it.
`worker` runs them in a process of its own, `pool` watches such processes, `verdicts` says what a fault is.
"""
