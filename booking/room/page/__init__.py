"""The fans' page: plain files that `page_files` serves, with no build step and nothing from other hosts."""
