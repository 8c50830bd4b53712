"""Sphinx configuration: `make docs`."""

import rarefind

project = "rarefind"
author = "the rarefind developers"
release = version = rarefind.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
exclude_patterns = ["_build", "_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "rarefind"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "abort_on_example_error": True,
    "capture_repr": (),
}
