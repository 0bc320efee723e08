"""What the report says, in plain words. Spec: VER-6."""

SENTENCES = {
    "format": "The file is complete and in a version this tool knows.",
    "chain": "Within this hand no step was added, removed, reordered or changed afterwards.",
    "terms": "The hand was played under the table's terms, fixed before it.",
    "server.commitment": (
        "The service's secret is the one it had committed to when the seats sealed."
    ),
    "seal": "Seat {0}'s seed is the one it sealed before any was opened.",
    "chain.": "Seat {1}'s seed for reshuffle {0} belongs to the same chain as the one before.",
    "order": "All seals were in before the first seed was opened.",
    "beacon": "The public beacon's round is the one named in advance, and its signature is right.",
    "shuffle": "Shuffling again from these seeds gives the same order of all cards.",
    "deck.cards": "The deck holds each card exactly once.",
    "deck.root": "The seals on the single cards belong to this order.",
    "first": "The first seat is the drawn one, or follows from the previous hand.",
    "deal": "The cards went round the table as the rules of this game say.",
    "pick.first": "The drawn first seat came from the seeds.",
    "pick.indicator": "The drawn indicator came from the seeds.",
    "draw": "Draw {0}: the cards came from the top of the stock, in the order of service.",
    "discard": "Discard {0}: the cards thrown face down are the ones locked in at that moment.",
    "show": "Showing {0}: each card was in the hand that showed it, and matches its seal.",
    "reshuffle": "Reshuffle {0}: the new stock is the thrown cards, shuffled with new seeds.",
    "seats": "Which seats gave seeds.",
    "play": "Every move was legal, what was due was done, and the score is right.",
    "end": "The hand was finished, or ended early for a stated reason after its deadline.",
    "disclosure": "The service opened what it promised to open, when it promised.",
    "log.inclusion": "The hand's last step is in the public log.",
    "log.signature": "The log's state was signed by the key you trust.",
    "log.witness": "Independent witnesses have signed the log's state (or none was asked).",
    "receipt": "The steps for which you kept a receipt are the steps in this file.",
    "seat.signature": "Seat {0} opened its seed with its own key.",
    "mine": "The seed you noted yourself is the one that was used.",
    "match": "No hand is left out between these, and each begins with what the one before left.",
}

REASONS = {
    "format": "A file that can be read in two ways can be shown in two ways.",
    "chain": "Each step names the hash of the one before, so none can be changed alone.",
    "terms": "Rules, seats and deadlines are fixed before the first card.",
    "server.commitment": "A service that could choose its secret late could choose the deck.",
    "seal": "A seat that could choose its seed after seeing others could choose the deck.",
    "chain.": "Seeds chosen freely would let the last to speak choose the new stock.",
    "order": "Who opens first is at the mercy of everybody who has not sealed yet.",
    "beacon": "A round named in advance is known to nobody until its time.",
    "shuffle": "The order of all cards follows from the seeds alone; nobody chose it.",
    "deck.cards": "A card missing or double is the oldest trick there is.",
    "deck.root": "The root was public before a card was seen, so none could be exchanged later.",
    "first": "Who gets the first card decides who gets which.",
    "deal": "The right cards in the wrong order are the wrong cards.",
    "pick.first": "Drawn by lot means drawn from the seeds, not by the service.",
    "pick.indicator": "The trump decides the game, so nobody may choose it.",
    "draw": "Cards from the middle or the bottom would be chosen cards.",
    "discard": "The lock was logged at once, so no seat could change its mind later.",
    "show": "A card from nowhere would not be in the hand, or would not match its seal.",
    "reshuffle": "A new stock needs new seeds, or those who know the old ones know the new order.",
    "seats": "Seeds protect those who gave one, and those who trust someone who did.",
    "play": "Cards can be dealt well and played wrong.",
    "end": "A hand stopped when it goes badly is a way to cheat.",
    "disclosure": "Only an opened secret can be checked.",
    "log.inclusion": "What is in the log cannot be taken back or shown differently to others.",
    "log.signature": "Without the right key this could be anybody's log.",
    "log.witness": "Witnesses see that everybody is shown the same log.",
    "receipt": "It shows that you and this file were told the same, before the seeds were open.",
    "seat.signature": "With a key of its own, nobody else can speak for a seat.",
    "mine": "It is the one check that only you can supply.",
    "match": "A score can be carried over wrong, and a lost hand left out.",
}

NOT_PROVED = (
    "that nobody looked at the cards: the service knows the deck of every hand it deals",
    "that the players did not talk to each other",
    "that a move was clever, or, at a table without a referee, legal and the score right",
    "anything about seats that gave no seed, unless they trust one that did",
    "that other hands were fair, or that none was left out: check each, or audit the log",
    "that others are shown the same log: compare its checkpoints with theirs",
)

STATUS_WORDS = {"PASS": "passed", "FAIL": "failed", "SKIP": "not checked", "N/A": "not applicable"}


PREFIXES = {"PASS": "", "FAIL": "Not so: ", "SKIP": "Not checked: ", "N/A": "Not applicable: "}


def family(check_id: str) -> tuple[str, list[str]]:
    """Splits an id into its family in the tables above and its numbers."""
    if check_id in SENTENCES:
        return check_id, []
    words = check_id.split(".")
    numbers = [word for word in words if word.isdecimal()]
    name = ".".join(word for word in words if not word.isdecimal())
    return ("chain." if name == "chain" else name), numbers


def sentence(check_id: str) -> str:
    """Says in a sentence what it means that a check passes."""
    name, numbers = family(check_id)
    return SENTENCES[name].format(*numbers)


def reason(check_id: str) -> str:
    """Says why a check matters."""
    return REASONS[family(check_id)[0]]
