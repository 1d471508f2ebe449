ARG BASE=python:3.13-slim-trixie@sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285
FROM ${BASE}

LABEL org.opencontainers.image.title="faithbot" \
      org.opencontainers.image.description="Did this pull request make your RAG less faithful to its sources?" \
      org.opencontainers.image.licenses="MIT"

# No version of git: Debian keeps only the newest of a release, so that a pinned one cannot be built next month.
# Perl serves git commands that faithbot never calls (send-email, svn) and would be a seventh of the image.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends git \
 && dpkg --purge --force-depends perl perl-modules-5.40 libperl5.40 liberror-perl \
 && apt-get clean \
 && rm -rf /var/lib/apt/lists/*

# The dependencies are a layer of their own, so that a change of the source builds in seconds. Their own tests (numpy
# installs 17 MB of them) stay out.
COPY requirements-action.lock /tmp/
RUN python3 -m venv --without-pip /opt/faithbot \
 && pip --python /opt/faithbot/bin/python3 install --no-cache-dir --require-hashes --requirement /tmp/requirements-action.lock \
 && find /opt/faithbot -type d -name tests -prune -exec rm -r {} +

COPY . /tmp/faithbot/
# Python's image comes without compiled files of its library: importing once what a job imports leaves those that it
# would compile anew each time.
RUN pip --python /opt/faithbot/bin/python3 install --no-cache-dir --no-deps --no-build-isolation /tmp/faithbot \
 && rm -rf /tmp/faithbot \
 && /opt/faithbot/bin/python3 -c 'import faithbot.action.main; from faithbot.action.overlap import *; import_ahead(FOR_THE_WORK + FOR_THE_RESULT).result()'

# The log of a job shows what happens while it happens. Looking for plugins of Pydantic, of which there are none, would
# read the metadata of all packages at each start.
ENV PYTHONUNBUFFERED=1 PYDANTIC_DISABLE_PLUGINS=__all__

# Neither USER nor WORKDIR: a runner starts a container action as root in the workspace that it mounts.
ENTRYPOINT ["/opt/faithbot/bin/faithbot-action"]
