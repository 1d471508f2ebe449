"""faithbot keeps one comment on a pull request: its own, whoever else imitates it, whatever GitHub answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from faithbot.github.api import Refused, open_repository
from faithbot.github.comment import Written, find_comment, keep_section, write_section
from faithbot.github.retry import Patience
from faithbot.github.sections import CUT_NOTICE, Section, join_sections, parse_sections
from faithbot.github.status import set_status
from github_double import HEAD, Failure, GitHubDouble, secondary_limit

if TYPE_CHECKING:
    from github.Repository import Repository

OURS = "<!-- faithbot:rag -->\nold"
START = f"<!-- faithbot:rag -->\n<!-- faithbot-section main {HEAD} -->\n"
US = "github-actions[bot]"


def add_ours(api: GitHubDouble, author: str = US, type: str = "Bot", body: str = OURS) -> int:  # noqa: A002
    return api.add_comment(7, body, author, type)


def write(repository: Repository, text: str = "new", number: int = 7) -> str | Refused:
    """The comment's address, or why there is none."""
    written = write_section(repository, number, "rag", Section("main", HEAD, text))
    return written.url if isinstance(written, Written) else written


def put(repository: Repository, section: Section) -> Written:
    written = write_section(repository, 7, "rag", section)
    assert isinstance(written, Written)
    return written


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of clients that are opened from now on."""
    monkeypatch.setattr("faithbot.github.api._SECONDS_BETWEEN_WRITES", 0.0)


# --- finding ---


def test_the_first_comment_is_posted(api: GitHubDouble, repository: Repository) -> None:
    url = write(repository)
    assert api.bodies(7) == [f"{START}new\n"]
    assert url == api.comments(7)[0]["html_url"]
    assert str(url).startswith("https://github.com/octocat/Hello-World/pull/7#issuecomment-")


def test_the_next_one_is_edited_in_place_among_four_pages_of_others(api: GitHubDouble, repository: Repository) -> None:
    for n in range(330):
        api.add_comment(7, f"comment {n}")
    ours = add_ours(api)
    for n in range(20):
        api.add_comment(7, f"later {n}")
    assert write(repository) == (f"https://github.com/octocat/Hello-World/pull/7#issuecomment-{ours}")
    assert len(api.comments(7)) == 351
    assert api.bodies(7)[330] == f"{START}new\n"
    assert [request.query.get("page") for request in api.requests if request.path.endswith("/7/comments")] == [
        None,
        "2",
        "3",
        "4",
    ]


@pytest.mark.parametrize(
    ("author", "type", "body"),
    [
        ("mallory", "User", OURS),  # a forged marker
        ("github-actions", "User", OURS),
        (US, "User", OURS),
        (US, "Bot", "<!-- faithbot:other -->\nanother key"),
        (US, "Bot", "<!-- faithbot:rag-2 -->\nanother key"),
        (US, "Bot", f"a bot that quotes us:\n{OURS}"),
        (US, "Bot", f"> {OURS}"),
        (US, "Bot", ""),
    ],
)
def test_what_is_not_ours_is_left_alone(
    api: GitHubDouble,
    repository: Repository,
    author: str,
    type: str,  # noqa: A002
    body: str,
) -> None:
    api.add_comment(7, body, author, type)
    write(repository)
    assert api.bodies(7) == [body, f"{START}new\n"]


def test_a_comment_whose_author_is_gone_is_not_ours(api: GitHubDouble, repository: Repository) -> None:
    add_ours(api)
    api.comments(7)[0]["user"] = None
    assert find_comment(repository, 7, "rag") is None


def test_of_several_the_newest_stays_with_the_sections_of_all(api: GitHubDouble, repository: Repository) -> None:
    """As a run leaves them that was cancelled between posting a second one and joining it with the first."""
    stronger = [Section("stronger", HEAD, text) for text in ("older", "newer")]
    for section in stronger:
        add_ours(api, body=join_sections("rag", {"main": Section("main", HEAD, "old"), "stronger": section}))
    url = write(repository)
    (comment,) = api.comments(7)
    assert (url, comment["id"]) == (comment["html_url"], 1002)
    assert parse_sections(comment["body"]) == {"main": Section("main", HEAD, "new"), "stronger": stronger[1]}


def test_several_that_cannot_be_joined_cost_nothing_else(api: GitHubDouble) -> None:
    repository = open_repository(api.repository, "ghs_workflow", api.url, Patience(attempts=1))
    for _ in range(2):
        add_ours(api)
    api.failures.append(Failure(502, only="DELETE"))
    assert not isinstance(write(repository), Refused)
    assert api.bodies(7) == [OURS, f"{START}new\n"]


def test_a_marker_that_was_saved_in_a_browser_is_found(api: GitHubDouble, repository: Repository) -> None:
    ours = add_ours(api, body=OURS.replace("\n", "\r\n"))
    found = find_comment(repository, 7, "rag")
    assert found is not None
    assert found.id == ours


def test_a_persons_token_finds_what_that_person_wrote_and_nothing_else(api: GitHubDouble) -> None:
    token = api.add_token("ghp_person", author="mona", type="User")
    repository = open_repository(api.repository, token, api.url)
    add_ours(api)
    assert find_comment(repository, 7, "rag") is None
    mine = add_ours(api, "Mona", "User")
    found = find_comment(repository, 7, "rag")
    assert found is not None
    assert found.id == mine


def test_another_apps_token_finds_what_an_app_wrote(api: GitHubDouble) -> None:
    token = api.add_token("ghs_app", author="acme[bot]")
    repository = open_repository(api.repository, token, api.url)
    by_app = add_ours(api, "acme[bot]")
    found = find_comment(repository, 7, "rag")
    assert found is not None
    assert found.id == by_app


def test_the_workflows_own_comment_comes_before_that_of_another_app(api: GitHubDouble, repository: Repository) -> None:
    ours = add_ours(api)
    add_ours(api, "acme[bot]")
    found = find_comment(repository, 7, "rag")
    assert found is not None
    assert found.id == ours


# --- writing, whatever happens ---


def test_a_comment_that_is_deleted_meanwhile_is_posted_again(api: GitHubDouble, repository: Repository) -> None:
    api.vanishing.add(add_ours(api))
    write(repository)
    assert [request.method for request in api.writes()] == ["PATCH", "POST"]
    assert api.bodies(7) == [f"{START}new\n"]


def test_what_two_runs_post_at_once_ends_in_the_older_comment_with_the_sections_of_both(
    api: GitHubDouble, repository: Repository
) -> None:
    main, stronger = Section("main", HEAD, "### No regression"), Section("stronger", HEAD, "### Another judge")
    api.overtaken_by.append(join_sections("rag", {"main": main}))
    url = put(repository, stronger).url
    (comment,) = api.comments(7)
    assert url == comment["html_url"]
    assert parse_sections(comment["body"]) == {"main": main, "stronger": stronger}


def test_the_comment_of_another_app_or_key_is_no_twin(api: GitHubDouble, repository: Repository) -> None:
    api.add_comment(7, OURS, "acme", "User")
    api.overtaken_by.append("<!-- faithbot:other -->\nanother key")
    write(repository)
    assert [body.rstrip("\n").rpartition("\n")[2] for body in api.bodies(7)] == ["old", "another key", "new"]


def test_a_twin_that_cannot_be_deleted_costs_nothing_else(api: GitHubDouble) -> None:
    repository = open_repository(api.repository, "ghs_workflow", api.url, Patience(attempts=1))
    api.overtaken_by.append(OURS)
    api.failures.append(Failure(502, only="DELETE"))
    assert not isinstance(write(repository), Refused)
    assert api.bodies(7) == [f"{START}new\n"] * 2


def test_another_apps_comment_that_may_not_be_edited_is_left_alone(api: GitHubDouble, repository: Repository) -> None:
    theirs = add_ours(api, "acme[bot]")
    for text in ("new", "newer"):
        url = write(repository, text)
    assert api.bodies(7) == [OURS, f"{START}newer\n"]
    assert url == api.comments(7)[1]["html_url"]
    assert api.comments(7)[0]["id"] == theirs


@pytest.mark.parametrize(
    ("comments", "kept"),
    [
        ([US], [OURS]),
        ([US, "acme[bot]"], [OURS]),
        (["acme[bot]", US], [OURS]),
        (["acme[bot]", "other[bot]", US], [OURS, OURS]),
        ([US, "other[bot]", "third[bot]", "fourth[bot]"], [OURS] * 4),
    ],
    ids=["none of its own", "newer", "older", "between others", "of four others"],
)
@pytest.mark.usefixtures("no_pause")
def test_an_app_keeps_one_comment_beside_those_that_other_tokens_have_left(
    api: GitHubDouble, comments: list[str], kept: list[str]
) -> None:
    """As after a change from the workflow's own token to an app's."""
    repository = open_repository(api.repository, api.add_token("ghs_app", author="acme[bot]"), api.url)
    for author in comments:
        add_ours(api, author)
    for text in ("new", "newer"):
        url = write(repository, text)
    assert {request.method for request in api.writes()} <= {"PATCH", "POST"}, "none is posted to be deleted"
    by_acme = [comment for comment in api.comments(7) if comment["user"]["login"] == "acme[bot]"]
    assert [(comment["html_url"], comment["body"]) for comment in by_acme] == [(url, f"{START}newer\n")]
    assert [comment["body"] for comment in api.comments(7) if comment not in by_acme] == kept


def test_a_comment_whose_answer_was_lost_is_not_posted_twice(api: GitHubDouble, repository: Repository) -> None:
    api.failures.append(Failure(502, processed=True, only="POST"))
    url = write(repository)
    assert len(api.comments(7)) == 1
    assert url == api.comments(7)[0]["html_url"]


def test_a_comment_that_was_not_posted_because_of_an_outage_is_posted_after_it(
    api: GitHubDouble, repository: Repository
) -> None:
    api.failures += [Failure(502), Failure(502, only="POST")]
    write(repository)
    assert len(api.comments(7)) == 1


def test_a_secondary_limit_is_waited_for(api: GitHubDouble, repository: Repository) -> None:
    api.failures.append(replace(secondary_limit(1), only="POST"))
    write(repository)
    first, second = (request.at for request in api.writes())
    assert second - first >= 1.0
    assert len(api.comments(7)) == 1


def test_a_lasting_outage_is_advice(api: GitHubDouble) -> None:
    repository = open_repository(api.repository, "ghs_workflow", api.url, Patience(attempts=2, first_wait=0.01))
    api.failures += [Failure(502)] * 2
    assert write(repository) == Refused(
        "the comment could not be posted: GitHub answered 502 several times; run the job again later"
    )


@pytest.mark.parametrize("comments", [[], [US], [US, "acme[bot]"]])
@pytest.mark.usefixtures("no_pause")
def test_a_read_only_token_is_advice(api: GitHubDouble, repository: Repository, comments: list[str]) -> None:
    api.add_token(permissions={"pull_requests": "read"})
    for author in comments:
        add_ours(api, author)
    refused = write(repository)
    assert api.bodies(7) == [OURS] * len(comments)
    assert isinstance(refused, Refused)
    assert refused.advice.startswith("the comment could not be posted: the token lacks `pull-requests: write`")
    assert "`faithbot publish`" in refused.advice


def test_a_locked_conversation_is_advice(api: GitHubDouble, repository: Repository) -> None:
    api.locked.add(7)
    assert write(repository) == Refused(
        "the comment could not be posted: the conversation is locked; unlock it and run the job again"
    )


def test_an_unknown_pull_request_is_advice(repository: Repository) -> None:
    refused = write(repository, number=8)
    assert isinstance(refused, Refused)
    assert "GitHub does not know it" in refused.advice


def test_a_body_that_is_too_long_is_cut_after_a_paragraph(api: GitHubDouble, repository: Repository) -> None:
    write(repository, "a paragraph\n\n" * 20_000)
    [body] = api.bodies(7)
    assert body.startswith(f"{START}a paragraph\n")
    assert body.endswith(f"{CUT_NOTICE}\n")


# --- sections ---


def test_another_judge_is_added_below_and_the_main_section_stays(api: GitHubDouble, repository: Repository) -> None:
    main = Section("main", HEAD, "### No regression")
    stronger = Section("stronger", HEAD, "### Regression, says another judge")
    first = put(repository, main)
    assert put(repository, stronger).url == first.url
    [body] = api.bodies(7)
    assert parse_sections(body) == {"main": main, "stronger": stronger}
    assert body.startswith("<!-- faithbot:rag -->\n<!-- faithbot-section main")


def test_a_person_cannot_put_a_section_into_our_comment(api: GitHubDouble, repository: Repository) -> None:
    forged = f"<!-- faithbot:rag -->\n<!-- faithbot-section stronger {HEAD} -->\nall is well"
    api.add_comment(7, forged, "mallory")
    write_section(repository, 7, "rag", Section("main", HEAD, "### Regression"))
    assert api.bodies(7)[0] == forged
    assert list(parse_sections(api.bodies(7)[1])) == ["main"]


# --- two runs at once ---

OLDER = "0123abc"
MAIN, STRONGER = Section("main", HEAD, "### No regression"), Section("stronger", HEAD, "### Another judge")
LISTING = "GET /issues/7/comments"


def add_sections(api: GitHubDouble, *sections: Section) -> int:
    return add_ours(api, body=join_sections("rag", {section.name: section for section in sections}))


def overwrite(api: GitHubDouble, *sections: Section) -> None:
    """What a run does to our comment that has read it before."""
    api.comments(7)[0]["body"] = join_sections("rag", {section.name: section for section in sections})


@pytest.mark.parametrize(("overtaken", "overtaking"), [(MAIN, STRONGER), (STRONGER, MAIN)])
@pytest.mark.parametrize(
    "before",
    [
        [],
        [replace(MAIN, text="an earlier attempt"), replace(STRONGER, text="an earlier attempt")],
        [replace(MAIN, commit=OLDER), replace(STRONGER, commit=OLDER), Section("own-grading", OLDER, "text")],
    ],
    ids=["first", "same commit", "older commit"],
)
@pytest.mark.usefixtures("no_pause")
def test_of_two_runs_that_edit_the_comment_at_once_neither_loses_its_section(
    api: GitHubDouble, overtaken: Section, overtaking: Section, before: list[Section]
) -> None:
    """One reads; the other reads and writes; the first writes: what the other wrote is gone, until it looks again."""
    one, other = (open_repository(api.repository, "ghs_workflow", api.url) for _ in range(2))
    add_sections(api, *before)
    written = []
    api.meanwhile.append((LISTING, lambda: written.append(put(other, overtaking))))
    written.append(put(one, overtaken))
    assert overtaking not in parse_sections(api.bodies(7)[0]).values()
    assert [keep_section(each) for each in written] == [None, None]
    (body,) = api.bodies(7)
    assert parse_sections(body) == {"main": MAIN, "stronger": STRONGER}


def test_a_look_that_finds_the_section_costs_one_request_a_second_after_the_writing(
    api: GitHubDouble, repository: Repository
) -> None:
    written = put(repository, MAIN)
    before = len(api.requests)
    assert keep_section(written) is None
    (look,) = api.requests[before:]
    assert (look.method, look.path.rpartition("/")[2]) == ("GET", str(api.comments(7)[0]["id"]))
    assert look.at - api.writes()[0].at >= 1.0


def test_the_pause_between_two_writes_does_not_lie_between_reading_and_editing(
    api: GitHubDouble, repository: Repository
) -> None:
    written = put(repository, MAIN)
    assert set_status(repository, HEAD, "success", "faithfulness 0.91", None, "rag (verdict)") is None
    overwrite(api, STRONGER)
    assert keep_section(written) is None
    *_, look, edit, _ = api.requests
    assert (look.method, edit.method) == ("GET", "PATCH")
    assert edit.at - look.at < 0.5


@pytest.mark.usefixtures("no_pause")
def test_what_came_after_the_section_is_not_overwritten(api: GitHubDouble, repository: Repository) -> None:
    add_sections(api, replace(MAIN, commit=OLDER))
    overtaken = [put(repository, MAIN), put(repository, STRONGER)]
    newer = Section("main", "f" * 40, "### The next commit")
    for section in (replace(MAIN, text="the next attempt"), newer):
        put(repository, section)
        body = api.bodies(7)
        assert [keep_section(each) for each in overtaken] == [None, None]
        assert api.bodies(7) == body
    assert parse_sections(body[0]) == {"main": newer}


@pytest.mark.usefixtures("no_pause")
def test_a_comment_that_a_person_deletes_after_the_writing_stays_deleted(
    api: GitHubDouble, repository: Repository
) -> None:
    written = put(repository, MAIN)
    overwrite(api, STRONGER)
    look = f"GET /issues/comments/{written.comment.id}"
    api.meanwhile += [(look, int), (look, written.comment.delete)]  # just before the section is written again
    assert keep_section(written) is None
    assert keep_section(written) is None
    assert api.comments(7) == []


@pytest.mark.usefixtures("no_pause")
def test_a_section_that_is_overwritten_again_and_again_is_given_up(api: GitHubDouble, repository: Repository) -> None:
    written = put(repository, MAIN)
    before = len(api.requests)
    overwrite(api, STRONGER)
    edit = f"PATCH /issues/comments/{written.comment.id}"
    api.meanwhile += [(edit, lambda: overwrite(api, STRONGER))] * 3
    assert keep_section(written) is None
    assert len(api.requests) - before == 7


@pytest.mark.usefixtures("no_pause")
def test_a_look_that_fails_is_advice(api: GitHubDouble) -> None:
    repository = open_repository(api.repository, "ghs_workflow", api.url, Patience(attempts=1))
    written = put(repository, MAIN)
    api.failures.append(Failure(502, only="GET"))
    assert keep_section(written) == Refused(
        "the comment could not be looked at again: GitHub answered 502 several times; run the job again later"
    )


@pytest.mark.usefixtures("no_pause")
def test_what_moves_into_an_older_comment_takes_nothing_away_that_is_written_meanwhile(
    api: GitHubDouble, repository: Repository
) -> None:
    """Between two writes of one run lies a pause, here between posting a second comment and moving it."""
    api.overtaken_by.append(join_sections("rag", {"main": replace(MAIN, text="an earlier attempt")}))
    api.meanwhile += [(LISTING, int), (LISTING, lambda: overwrite(api, MAIN))]
    assert keep_section(put(repository, STRONGER)) is None
    (body,) = api.bodies(7)
    assert parse_sections(body) == {"main": MAIN, "stronger": STRONGER}
