# A script, not a module with doctests: to import it is to run it.
collect_ignore = ["typed_script.py"]
