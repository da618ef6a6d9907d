# deft with libdeft.so, from the packages of a release; no compiler is needed.
# It owns the session of the programs that run as the same user:
#
#   docker build -f tools/release/images/deft.Dockerfile -t deft out/release/dist
#   docker run -u $(id -u) -v /dev/shm:/dev/shm deft daemon --session cuda
#
# deft/deploy/kubernetes.yaml copies the library from /opt/deft.
FROM debian:12-slim
ARG TARGETARCH
RUN --mount=type=bind,target=/packages \
    dpkg -i /packages/deft_*_linux_${TARGETARCH}.deb && ln -s /usr/lib/foretime /opt/deft
USER 65532:65532
ENTRYPOINT ["deft"]
CMD ["daemon"]
