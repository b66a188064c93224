# The mock service: docker build -t catalogue-mock . && docker run -p 127.0.0.1:4010:4010 catalogue-mock
FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY . .
RUN npm ci --no-audit --no-fund
RUN npm prune --omit=dev --no-audit --no-fund
RUN rm -rf dist/types && mkdir app && mv bin dist node_modules package.json LICENSE app/

FROM gcr.io/distroless/nodejs22-debian12:nonroot
COPY --from=build /build/app /app
WORKDIR /home/nonroot
USER 65532:65532
EXPOSE 4010
# A request to /_mock is not in the log of requests.
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s CMD ["/nodejs/bin/node", "-e", "fetch('http://127.0.0.1:4010/_mock/faults').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/nodejs/bin/node", "/app/bin/catalogue.js", "serve", "--mock", "--host", "0.0.0.0"]
