# The mock service: npm pack && docker build -t catalogue-mock . && docker run -p 127.0.0.1:4010:4010 catalogue-mock
# Digests of all platforms. To renew them: docker buildx imagetools inspect NAME:TAG
FROM node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c AS build
WORKDIR /build/app
# The one file that npm pack made, and the versions of the packages that come with it.
ARG PACKAGE=catalogue-imaging-catalogue-*.tgz
COPY ${PACKAGE} package-lock.json ./
RUN set -- *.tgz; [ $# -eq 1 ] && [ -f "$1" ] || { printf '%s\n' "error: one packed file is needed, not: $*" "Run npm pack, or choose one with --build-arg PACKAGE=FILE." >&2; exit 1; }
RUN tar -xzf *.tgz --strip-components=1 && rm *.tgz
# No script of a package runs, here and for users.
RUN npm ci --ignore-scripts --omit=dev --no-audit --no-fund

FROM gcr.io/distroless/nodejs22-debian12:nonroot@sha256:13593b7570658e8477de39e2f4a1dd25db2f836d68a0ba771251572d23bb4f8e
COPY --from=build /build/app /app
WORKDIR /home/nonroot
USER 65532:65532
EXPOSE 4010
# A request to /_mock is not in the log of requests.
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s CMD ["/nodejs/bin/node", "-e", "fetch('http://127.0.0.1:4010/_mock/faults').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/nodejs/bin/node", "/app/bin/catalogue.js", "serve", "--mock", "--host", "0.0.0.0"]
