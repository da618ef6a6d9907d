# mirage with Slurm's commands, from the packages of a release. It acts as the
# user that runs it, by the cluster's configuration and munge:
#
#   docker build -f tools/release/images/mirage.Dockerfile -t mirage out/release/dist
#   docker run --rm -u $(id -u) -v /etc/slurm:/etc/slurm:ro -v /run/munge:/run/munge mirage when --job-nodes 4 --job-limit 12h
FROM debian:12-slim
ARG TARGETARCH
RUN --mount=type=bind,target=/packages \
    apt-get update \
    && apt-get install -y --no-install-recommends slurm-client /packages/mirage_*_linux_${TARGETARCH}.deb \
    && rm -rf /var/lib/apt/lists/*
USER 65532:65532
ENTRYPOINT ["mirage"]
CMD ["-h"]
