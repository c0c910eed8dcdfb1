# Tautwire's command and Python package: `docker build -t tautwire .`, then
# `docker run --rm -v "$PWD:/networks" tautwire verify net.yaml`.
FROM rust:1.95-slim-bookworm AS build
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends python3-pip && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir --break-system-packages maturin==1.16.0
WORKDIR /source
COPY . .
RUN python3 tools/licences.py --texts tautwire-python > python/LICENSE-THIRD-PARTY
RUN maturin build --release --locked --manifest-path python/Cargo.toml --out /dist

FROM python:3.13-slim-bookworm
COPY --from=build /dist /dist
RUN pip install --no-cache-dir "$(ls /dist/tautwire-*.whl)[data,plot]" && rm -rf /dist
USER nobody
ENV MPLCONFIGDIR=/tmp
WORKDIR /networks
ENTRYPOINT ["tautwire"]
