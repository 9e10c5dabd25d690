import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildBase } from './base.ts';
import type { Buildah, ImageConfig } from './buildah.ts';
import { run } from './run.ts';

const root = join(import.meta.dirname, '..', '..');
const BASE = 'localhost/image-try-base';
const IMAGE = 'localhost/image-try';

export interface BuiltImage {
  readonly config: ImageConfig;
  /** The root folder of its containers, which share it: none can write to it. */
  readonly rootFolder: string;
  /** For the volumes of its containers. */
  readonly volumesFolder: string;
  readonly revision: string;
  /** The value of `NODE_IMAGE`. */
  readonly baseName: string;
  readonly baseSeconds: number;
  readonly buildSeconds: number;
}

/** Builds by the project's Dockerfile, as docs/operations.md says. */
export function buildImage(buildah: Buildah): BuiltImage {
  const revision = revisionOf(root);
  const startedAtMs = performance.now();
  buildBase(buildah, BASE);
  const baseAtMs = performance.now();
  buildah.build(
    IMAGE,
    root,
    ...['--build-arg', `NODE_IMAGE=${BASE}`, '--build-arg', `REVISION=${revision}`],
    ...registryAccess(buildah.folder),
  );
  const builtAtMs = performance.now();
  return {
    config: buildah.config(IMAGE),
    rootFolder: buildah.from(IMAGE).folder,
    volumesFolder: buildah.folder,
    revision,
    baseName: BASE,
    baseSeconds: (baseAtMs - startedAtMs) / 1_000,
    buildSeconds: (builtAtMs - baseAtMs) / 1_000,
  };
}

/** A checkout that is no repository is an image all the same. */
function revisionOf(folder: string): string {
  try {
    return run('git', ['rev-parse', 'HEAD'], { cwd: folder });
  } catch {
    return '0'.repeat(40);
  }
}

/** This machine's way to the registry, mounted for the build's steps alone: no layer has it. */
function registryAccess(folder: string): string[] {
  const all = JSON.parse(run('npm', ['config', 'list', '--json'], { cwd: root }));
  const { cache, registry, 'https-proxy': proxy, 'strict-ssl': strict } = all;
  const settings: Record<string, unknown> = {
    registry,
    'https-proxy': proxy,
    'strict-ssl': strict,
  };
  const volumes: string[] = [];
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  if (authorities) {
    settings.cafile = '/run/authorities.pem';
    volumes.push('--volume', `${authorities}:${settings.cafile}:ro`);
  }
  const path = join(folder, 'npmrc');
  const lines = Object.entries(settings).filter(([, value]) => value !== null);
  writeFileSync(path, lines.map(([name, value]) => `${name}=${value}\n`).join(''));
  mkdirSync(cache, { recursive: true });
  return [...volumes, '--volume', `${path}:/root/.npmrc:ro`, '--volume', `${cache}:/root/.npm`];
}
