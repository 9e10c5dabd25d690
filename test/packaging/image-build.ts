import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { promisify } from 'node:util';
import {
  declaredArgument,
  expand,
  isInContext,
  parseDockerfile,
  parseExec,
  parseGlobalArguments,
  parsePairs,
  type Stage,
} from '../support/dockerfile.ts';

const run = promisify(execFile);

/** The environment and command that a container of the last stage would have. */
export interface Image extends Disposable {
  /** Stands for the container's `/`. */
  readonly rootFolder: string;
  readonly workFolder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: string | null;
  readonly volumes: readonly string[];
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

/** Walks through a Dockerfile's steps in folders instead of layers, since a machine may have no engine. */
export async function buildImage(
  contextFolder: string,
  given: Readonly<Record<string, string>> = {},
): Promise<Image> {
  const source = readFileSync(join(contextFolder, 'Dockerfile'), 'utf8');
  const stages = parseDockerfile(source);
  const globals = parseGlobalArguments(source);
  const buildFolder = mkdtempSync(join(tmpdir(), 'image-'));
  const tools = toolsFolder(buildFolder);
  try {
    let image: Omit<Image, keyof Disposable> | null = null;
    for (const [index, stage] of stages.entries()) {
      const rootFolder = join(buildFolder, stage.name ?? String(index));
      mkdirSync(rootFolder);
      image = await buildStage(stage, {
        contextFolder,
        buildFolder,
        rootFolder,
        tools,
        globals,
        given,
      });
    }
    if (image === null) throw new Error('the Dockerfile has no stage');
    return { ...image, [Symbol.dispose]: () => rmSync(buildFolder, { recursive: true }) };
  } catch (error) {
    rmSync(buildFolder, { recursive: true });
    throw error;
  }
}

interface Folders {
  readonly contextFolder: string;
  readonly buildFolder: string;
  readonly rootFolder: string;
  readonly tools: string;
  readonly globals: Readonly<Record<string, string>>;
  /** The build arguments of the command line. */
  readonly given: Readonly<Record<string, string>>;
}

async function buildStage(stage: Stage, folders: Folders): Promise<Omit<Image, keyof Disposable>> {
  const { rootFolder, buildFolder, contextFolder, tools, globals, given } = folders;
  // A stage sees only the arguments that it declares itself.
  const declared: Record<string, string> = {};
  const image = {
    rootFolder,
    workFolder: rootFolder,
    env: {} as Record<string, string>,
    labels: {} as Record<string, string>,
    user: null as string | null,
    volumes: [] as string[],
    command: [] as string[],
    healthCheck: [] as string[],
  };
  const inside = (path: string) =>
    path.startsWith('/') ? join(rootFolder, path) : join(image.workFolder, path);
  for (const { name, flags, rest } of stage.instructions) {
    if (name === 'WORKDIR') {
      image.workFolder = inside(rest);
      mkdirSync(image.workFolder, { recursive: true });
    } else if (name === 'COPY') {
      const paths = rest.split(/\s+/);
      const target = paths.pop() ?? '';
      const from = flags.from === undefined ? contextFolder : join(buildFolder, flags.from);
      for (const path of paths) {
        const end = target.endsWith('/') ? inside(join(target, basename(path))) : inside(target);
        copy(join(from, path), end, flags.from === undefined ? contextFolder : null);
      }
    } else if (name === 'RUN') {
      const env = { ...bareEnvironment(tools), ...image.env };
      await run('sh', ['-c', rest], { cwd: image.workFolder, env });
    } else if (name === 'ARG') {
      Object.assign(declared, declaredArgument(rest, globals, given));
    } else if (name === 'LABEL') Object.assign(image.labels, parsePairs(expand(rest, declared)));
    else if (name === 'ENV') Object.assign(image.env, parsePairs(expand(rest, declared)));
    else if (name === 'USER') image.user = rest;
    else if (name === 'VOLUME') image.volumes.push(rest);
    else if (name === 'HEALTHCHECK') image.healthCheck = parseExec(rest);
    else if (name === 'CMD') image.command = parseExec(rest);
    else if (name !== 'EXPOSE')
      throw new Error(`an instruction that is not walked through: ${name}`);
  }
  return image;
}

function copy(from: string, to: string, contextFolder: string | null): void {
  const dockerignore =
    contextFolder === null ? '' : readFileSync(join(contextFolder, '.dockerignore'), 'utf8');
  cpSync(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => {
      if (contextFolder === null) return true;
      return isInContext(relative(contextFolder, path), dockerignore);
    },
  });
}

/** Only the environment that npm needs to reach its registry: nothing of the npm that runs the tests. */
export function bareEnvironment(...tools: readonly string[]): Record<string, string> {
  const kept = ['HOME', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'TMPDIR'];
  const entries = Object.entries(process.env).filter(
    ([name]) => kept.includes(name) || /^(https?|no)_proxy$/i.test(name),
  );
  const path = (process.env.PATH ?? '')
    .split(':')
    .filter((folder) => !folder.endsWith('node_modules/.bin'));
  return {
    ...(Object.fromEntries(entries) as Record<string, string>),
    PATH: [...tools, ...path].join(':'),
  };
}

/** The image's own Node, and a `chown` that needs neither root nor the image's user. */
function toolsFolder(buildFolder: string): string {
  const tools = join(buildFolder, '.tools');
  mkdirSync(tools);
  for (const [name, script] of [
    ['node', `exec '${process.execPath}' "$@"`],
    ['chown', 'exit 0'],
  ] as const) {
    writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(tools, name), 0o755);
  }
  return tools;
}
