"""The service's own pages, for people: plain HTML that loads nothing from anywhere.

| module | what |
|---|---|
| `packaged` | files of the package fairdeal-verifier: the page that checks hands, the texts |
| `words` | the texts in the language that the reader's browser asks for |
| `html` | how text becomes HTML: escaped, always |
| `frame` | head, style and headers of a page |
| `front` | the front page |
| `hand` | the page of one hand, which leads to its check |
"""
