"""`fairdeal play`: a person at a table with a referee, in a terminal, against simple bots.

| module | what |
|---|---|
| `command` | the command: starts all, ends all |
| `house` | the operator: a throw-away service or a given one, tables, hands |
| `bots` | seats that programs play, each a client of its own |
| `session` | the person's seat: its client, what it tells and what is done |
| `person` | what the person is asked |
| `seating` | who sits where, and what they are called |
| `lines`, `screen`, `boards` | what is printed, and what the table looks like |
| `tale`, `results` | what has happened, in words |
| `menu` | the legal moves, and what a person types |
| `rules` | each game on one page |
| `records` | files of hands, and the standalone verifier, as another program |
| `processes` | starting and ending the service |

Nothing in here knows the demo, which uses much of it: a match by bots needs no person.
"""
