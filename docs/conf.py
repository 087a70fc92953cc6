"""The documentation as a site: `make docs`, then open site/index.html. Builds and reads without a network."""

import sys
from pathlib import Path

import phaselect

sys.path.append(str(Path(__file__).parent / "_ext"))
for name in phaselect._MODULES:  # public modules under their public names
    sys.modules[f"phaselect.{name}"] = getattr(phaselect, name)

project = "phaselect"
copyright = "The phaselect developers"
version = release = phaselect.__version__
language = "en"
smartquotes_action = "D"  # dashes; quotes are those of Python and of the shell

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "mathml",
    "long_names",
    "prose",
]
exclude_patterns = ["_ext", "_templates"]
templates_path = ["_templates"]
default_role = "code"

myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {
    name: name for name in ("Array", "ArrayLike", "Matrix", "NDArray", "Shape", "SpectrumLike", "Trace", "Vector")
}
maximum_signature_line_length = 90
python_use_unqualified_type_names = True
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "image_srcset": ["2x"],
    "reset_modules": ("gallery_style.apply",),
    "within_subsection_order": "gallery_style.ReadingOrder",
    "doc_module": ("phaselect",),
    "backreferences_dir": "gallery/backreferences",
}

html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"phaselect {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_search_summary = False  # a summary is fetched, which a browser refuses from the file system
html_copy_source = False
