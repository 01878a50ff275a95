"""``python -m coforest`` runs the command that came with the package, with the same arguments."""
import os
import shutil
import subprocess
import sys
import sysconfig


def command():
    """The path of the program."""
    name = "coforest" + sysconfig.get_config_var("EXE")
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user"), os.path.dirname(sys.executable)]
    found = [os.path.join(folder, name) for folder in folders if os.path.isfile(os.path.join(folder, name))]
    path = found[0] if found else shutil.which(name)
    if path is None:
        raise SystemExit("coforest: the command is not installed beside the package; install it again with pip")
    return path


if __name__ == "__main__":
    raise SystemExit(subprocess.call([command(), *sys.argv[1:]]))
