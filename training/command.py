"""`meeplezoo train`: a config or a run folder, trained to its end."""

import sys

from ..envs.messages import display_path, error_line
from .config_files import change_config, config_stem, read_config, write_config
from .run_folder import new_run_folder, open_run_folder
from .trainer import check_trainable, train

DONE, FAILED, WRONGLY_CALLED, INTERRUPTED = 0, 1, 2, 130


def train_command(config: str | None, overrides: list[str], resume: str | None) -> int:
    """Train a new run of a config, or go on with a run, and return the exit code.

    Arguments:
        config: path or name of the config of a new run; None if `resume` is given.
        overrides: settings as `key=value`; for a resumed run those of `config.CHANGEABLE` alone.
        resume: folder of the run that is to go on.

    Exit codes: 0 the run came to its end, 1 it cannot go on (no checkpoint, or a damaged one), 2 a wrong config or
    call, 130 stopped by Ctrl-C or SIGTERM, with everything saved. Errors are one sentence on stderr.
    """
    if (config is None) == (resume is None):
        return _fail("train takes either a config or --resume RUN", WRONGLY_CALLED)
    try:
        if resume is None:
            assert config is not None
            settings = read_config(config, overrides)
            check_trainable(settings)
            folder = new_run_folder(settings, config_stem(config))
        else:
            folder, settings = open_run_folder(resume)
            if overrides:
                settings = change_config(settings, overrides)
                write_config(settings, folder.config)
            check_trainable(settings)
    except ValueError as error:
        return _fail(str(error), WRONGLY_CALLED)
    print(f"run folder: {display_path(folder.path)}", flush=True)
    try:
        finished = train(settings, folder, resume=resume is not None)
    except ValueError as error:
        return _fail(str(error), FAILED)
    print(f"best model: {display_path(folder.best_agent())}\nlearning curve: {display_path(folder.learning_curve)}")
    if not finished:
        print(f"stopped and saved; go on with: meeplezoo train --resume {display_path(folder.path, quoted=True)}")
        return INTERRUPTED
    return DONE


def _fail(sentence: str, code: int) -> int:
    print(error_line(sentence), file=sys.stderr)
    return code
