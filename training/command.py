"""`meeplezoo train`: a config or a run folder, trained to its end."""

import sys

from ..envs.system.locks import FolderInUse
from ..envs.system.messages import display_path, error_line
from .config import TrainingConfig
from .config_files import change_config, config_stem, read_config
from .run_folder import RunFolder, lock_run, new_run_folder, open_run_folder
from .trainer import check_trainable, train

DONE, FAILED, USAGE_ERROR, INTERRUPTED = 0, 1, 2, 130


def train_command(config: str | None, overrides: list[str], resume: str | None, *, trust: bool = False) -> int:
    """Train a new run of a config, or go on with a run, and return the exit code.

    Arguments:
        config: path or name of the config of a new run; None if `resume` is given.
        overrides: settings as `key=value`; for a resumed run those of `config.CHANGEABLE` alone.
        resume: folder of the run that is to go on.
        trust: that of `make_agent`, for the agents that the config names.

    Exit codes: 0 the run came to its end, 1 it failed (a lost or damaged checkpoint, a full disk, another process
    in its folder), 2 a usage error, 130 stopped by Ctrl-C or SIGTERM, with everything saved. Errors are one
    sentence on stderr.
    """
    if (config is None) == (resume is None):
        return _fail("train takes either a config or --resume RUN", USAGE_ERROR)
    try:
        folder, settings = _prepare_run(config, overrides, resume, trust)
    except FolderInUse as error:
        return _fail(str(error), FAILED)
    except ValueError as error:
        return _fail(str(error), USAGE_ERROR)
    except OSError as error:
        return _fail_to_write(error)
    try:
        with lock_run(folder):
            print(f"run folder: {display_path(folder.path)}", flush=True)
            finished = train(settings, folder, resume=resume is not None, trust=trust)
    except ValueError as error:
        return _fail(str(error), FAILED)
    except OSError as error:
        return _fail_to_write(error)
    print(f"best model: {display_path(folder.best_agent())}\nlearning curve: {display_path(folder.learning_curve)}")
    if not finished:
        print(f"stopped and saved; go on with: meeplezoo train --resume {display_path(folder.path, quoted=True)}")
        return INTERRUPTED
    return DONE


def _prepare_run(
    config: str | None, overrides: list[str], resume: str | None, trust: bool
) -> tuple[RunFolder, TrainingConfig]:
    """Return the folder of a run, made if it is a new one, and its config with the changes."""
    if resume is not None:
        folder, settings = open_run_folder(resume)
        settings = change_config(settings, overrides)
        check_trainable(settings, trust=trust)
        return folder, settings
    assert config is not None
    settings = read_config(config, overrides)
    check_trainable(settings, trust=trust)
    return new_run_folder(settings, config_stem(config)), settings


def _fail_to_write(error: OSError) -> int:
    """Print which file could not be read or written; errors of the standard streams are raised again."""
    if error.filename is None:
        raise error
    return _fail(f"{error.filename}: {error.strerror}", FAILED)


def _fail(sentence: str, code: int) -> int:
    print(error_line(sentence), file=sys.stderr)
    return code
