"""matplotlib as people expect it where there is no screen: figures become files in `outputs/`, Chinese is readable.

Costs nothing until matplotlib is imported: as a finder of modules it waits for the three it completes.
"""

import functools
import importlib.machinery
import os
import sys
import weakref

FOLDER = "outputs"
FIGURES_MAX = 50
EMPTY = "sandbox: the figure that was saved is empty: figures are closed when a call ends. Draw and save in one call.\n"
# The first of these that is there helps out wherever the chosen font lacks a character.
CHINESE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "AR PL UMing CN",
    "SimHei",
)


class Figures:
    """`report` is told the path of each figure below the workspace."""

    def __init__(self, workspace, report):
        self.workspace = os.path.realpath(workspace)
        self.report = report
        self.number = 0
        self.reported = set()
        self.closed = weakref.WeakValueDictionary()  # By number: those that the user's names still hold.
        self.closed_count = 0
        self.save = None
        self.completions = {
            "matplotlib.font_manager": self._complete_fonts,
            "matplotlib.figure": self._complete_figure,
            "matplotlib.pyplot": self._complete_pyplot,
        }

    # As a finder of modules.

    def find_spec(self, name, path, target=None):
        completion = self.completions.get(name)
        spec = importlib.machinery.PathFinder.find_spec(name, path) if completion else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_complete(module):
            load(module)
            completion(module)

        spec.loader.exec_module = load_and_complete
        return spec

    def _complete_fonts(self, module):
        names = {font.name for font in module.fontManager.ttflist}
        chinese = next((name for name in CHINESE_FONTS if name in names), None)
        find = getattr(module.FontManager, "_find_fonts_by_props", None)
        if chinese is None or find is None:
            return

        # Not a setting: styles, seaborn and most examples set the fonts anew.
        def find_with_chinese(manager, *args, **options):
            found = find(manager, *args, **options)
            fallback = manager.findfont(chinese)
            return found if fallback in found else [*found, fallback]

        module.FontManager._find_fonts_by_props = find_with_chinese
        # "SimHei not found", once per label, helps nobody when the label is readable.
        import logging  # Here matplotlib has loaded it; a Python without it does not need it.

        logging.getLogger(module.__name__).setLevel(logging.ERROR)

    def _complete_figure(self, module):
        self.save = module.Figure.savefig

        @functools.wraps(self.save)
        def savefig(figure, fname, *args, **options):
            value = self.save(figure, fname, *args, **options)
            self._note_saved(figure, fname)
            return value

        module.Figure.savefig = savefig
        module.Figure.show = lambda figure, *_, **__: self._show(figure)

    def _complete_pyplot(self, module):
        module.show = lambda *_, **__: self._save_open(module)

    def _note_saved(self, figure, name):
        if not has_content(figure):
            sys.stderr.write(EMPTY)
        path = self._path_in_workspace(name)
        if path is None:
            return
        figure._saved_as, figure.stale = path, False
        if not is_empty(figure) and path.startswith(FOLDER + os.sep) and path.endswith(".png"):
            self._report(path)

    # At the end of a cell, and when `show` is called.

    def show(self, value):
        """A figure that is the last value of a cell is wanted, also when it was drawn in an earlier one."""
        module = sys.modules.get("matplotlib.figure")
        if isinstance(value, getattr(module, "Figure", ())):
            self._show(value)

    def save_open(self):
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None:
            self._save_open(pyplot)
        self.reported.clear()

    def forget(self):
        """A cell that failed leaves no half-made figures to the next one."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None and hasattr(pyplot, "close"):
            pyplot.close("all")
        for figure in [*self.closed.values()]:
            figure.stale = False
        self.reported.clear()

    def _save_open(self, pyplot):
        for figure in [*self.closed.values()]:
            if is_changed(figure):
                self._show(figure)
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            if getattr(figure, "_saved_as", None) is None or is_changed(figure):
                self._show(figure)
            pyplot.close(figure)
            # With a name of the user's it may still be changed.
            self.closed_count += 1
            self.closed[self.closed_count] = figure

    def _show(self, figure):
        path = getattr(figure, "_saved_as", None)
        is_there = path is not None and os.path.exists(os.path.join(self.workspace, path))
        if is_empty(figure) or (path is not None and not has_content(figure)):
            return
        if is_there and not is_changed(figure):
            self._note_saved(figure, os.path.join(self.workspace, path))
        else:
            self._save(figure)

    def _save(self, figure):
        os.makedirs(os.path.join(self.workspace, FOLDER), exist_ok=True)
        path, file = self._new_file()
        try:
            with file:
                self.save(figure, file, format="png", bbox_inches="tight")
        except BaseException:
            os.unlink(os.path.join(self.workspace, path))
            raise
        self._note_saved(figure, os.path.join(self.workspace, path))

    def _new_file(self):
        while True:
            self.number += 1
            path = f"{FOLDER}/figure-{self.number}.png"
            try:
                return path, open(os.path.join(self.workspace, path), "xb")
            except FileExistsError:
                continue  # Of an earlier Python, or of another agent's.

    def _path_in_workspace(self, name):
        try:
            full = os.path.realpath(os.fsdecode(name))
        except TypeError:
            return None  # An open file.
        # matplotlib gives a name without an ending one of its own.
        path = os.path.relpath(full if os.path.isfile(full) else f"{full}.png", self.workspace)
        return None if path.startswith(os.pardir + os.sep) else path

    def _report(self, path):
        if path not in self.reported and len(self.reported) < FIGURES_MAX:
            self.reported.add(path)
            self.report(path)


def is_empty(figure):
    return not (figure.axes or figure.texts or figure.images)


def has_content(figure):
    """More than empty axes with a title, which is what is left where all was drawn in an earlier figure."""
    return bool(figure.texts or figure.images) or any(shows_something(axes) for axes in figure.axes)


def shows_something(axes):
    has_data = getattr(axes, "has_data", lambda: True)
    return has_data() or any(getattr(axes, name, ()) for name in ("texts", "tables", "artists"))


def is_changed(figure):
    """Since it was drawn for the last time."""
    return getattr(figure, "stale", False)
