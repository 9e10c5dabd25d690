import { parse } from 'yaml';
import { z } from 'zod';
import { environmentOf, parseDockerfile } from '../../support/dockerfile.ts';
import { readDeployed, readProject } from './files.ts';

const texts = z.array(z.string());
/** The keys that the project's file uses. The schema is strict, so that a misspelt key is found. */
const service = z.strictObject({
  image: z.string(),
  build: z
    .union([
      z.string(),
      z.strictObject({ context: z.literal('../..'), target: z.literal('bundle') }),
    ])
    .optional(),
  command: texts.optional(),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: texts.default([]),
  ports: texts.default([]),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.string() })).default({}),
  networks: z.strictObject({ default: z.strictObject({ ipv4_address: z.ipv4() }) }).optional(),
  healthcheck: z
    .strictObject({ test: texts, interval: z.string(), start_period: z.string().optional() })
    .optional(),
  restart: z.literal('unless-stopped'),
  stop_grace_period: z
    .string()
    .regex(/^\d+s$/)
    .optional(),
  read_only: z.boolean().default(false),
  tmpfs: texts.default([]),
  cap_drop: texts.default([]),
  security_opt: texts.default([]),
});
const composeFile = z.strictObject({
  'x-hardened': z.unknown(),
  'x-replica': z.unknown(),
  services: z.record(z.string(), service),
  networks: z.unknown(),
  volumes: z.record(z.string(), z.null()),
});

export type ComposeService = z.infer<typeof service>;

export const IMAGE = 'trading-graph';

export const compose = composeFile.parse(
  parse(readDeployed('compose', 'compose.yaml'), { merge: true }),
);

export function serviceNamed(name: string): ComposeService {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`there is no service ${name}`);
  return found;
}

/** The services that run Trading Graph itself. */
export const replicas = Object.entries(compose.services).filter(
  ([, { image, command }]) => image.startsWith(`${IMAGE}:`) && command === undefined,
);

/** The environment of the project's image, before a container's own settings. */
export const imageEnvironment: Readonly<Record<string, string>> = Object.fromEntries(
  parseDockerfile(readProject('Dockerfile'))
    .slice(-1)
    .flatMap((stage) => Object.entries(environmentOf(stage)))
    // The compile cache belongs to the image's bundle, which does not run here.
    .filter(([name]) => !name.startsWith('NODE_COMPILE_CACHE')),
);
