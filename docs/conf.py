"""Sphinx configuration: `make docs`."""

from urllib.request import urlopen

import rarefind

project = "rarefind"
author = "the rarefind developers"
release = version = rarefind.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
exclude_patterns = ["_build", "_templates"]
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline"]
html_theme = "pydata_sphinx_theme"
html_title = "rarefind"
html_static_path = ["_static"]
html_css_files = ["rarefind.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 8,
    "show_prev_next": False,
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "auto_examples/index": []},
}
html_show_sourcelink = False
html_sidebars = {"index": [], "glossary": []}
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": (),
    "show_memory": False,
}

_DOCS_OF_OTHERS = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "pandas": "https://pandas.pydata.org/docs/",
    "sklearn": "https://scikit-learn.org/stable/",
    "imblearn": "https://imbalanced-learn.org/stable/",
}


def _reachable(url: str) -> bool:
    try:
        with urlopen(f"{url}objects.inv", timeout=3):
            return True
    except OSError:
        return False


# Without a network the site is built without links to other projects, and without a warning.
_online = _reachable(_DOCS_OF_OTHERS["python"])
intersphinx_mapping = {
    name: (url, None) for name, url in _DOCS_OF_OTHERS.items() if _online and _reachable(url)
}
