# The exact version of Node that the project is developed and tested with. You may set a mirror's name instead.
ARG NODE_IMAGE=node:26.10.0-slim@sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The image has its Node already, which is the one optional package.
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund

# Bundles two thousand modules into one file, and fills Node's compile cache for it.
FROM ${NODE_IMAGE} AS bundle
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY scripts/image ./scripts/image
RUN npm ci --workspace=scripts/image --no-audit --no-fund
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY src ./src
RUN node ../build/scripts/image/bundle.ts . dist
# Without PORTABLE only the user who wrote the cache could use it.
ENV NODE_ENV=production NODE_COMPILE_CACHE=compile-cache NODE_COMPILE_CACHE_PORTABLE=1
RUN mkdir data && node ../build/scripts/image/warm.ts dist/main.js
# In a checkout the files may be readable only by their owner, but the image runs as another user.
RUN chmod a+x dist/cli.js && chmod -R a+rX package.json dist src/graphiql compile-cache

FROM ${NODE_IMAGE}
ARG NODE_IMAGE
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="trading-graph" \
    org.opencontainers.image.description="A GraphQL backend-for-frontend over a REST trading gateway" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.licenses="MIT" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.base.name="${NODE_IMAGE}"
WORKDIR /app
ENV NODE_ENV=production \
    REVISION=${REVISION} \
    NODE_COMPILE_CACHE=compile-cache \
    NODE_COMPILE_CACHE_PORTABLE=1 \
    HOST=0.0.0.0 \
    ADMIN_HOST=0.0.0.0 \
    SHUTDOWN_DELAY_MS=5000
COPY --from=bundle /app/package.json ./
COPY --from=bundle /app/dist ./dist
COPY --from=bundle /app/src/graphiql/bundle ./src/graphiql/bundle
COPY --from=bundle /app/src/graphiql/page ./src/graphiql/page
# The cache belongs to root, so that nobody in the container can put code into it.
COPY --from=bundle /app/compile-cache ./compile-cache
RUN ln -s /app/dist/cli.js /usr/local/bin/trading-graph
# The folder of the order records. Without a volume they are lost with the container.
RUN mkdir -m 700 data && chown 1000:1000 data
# The user `node` as a number, because Kubernetes cannot tell from a name that the user is not root.
USER 1000:1000
VOLUME /app/data
EXPOSE 4000 4001
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 4000}/health/live`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, so that SIGTERM reaches the server directly.
CMD ["node", "dist/main.js"]
