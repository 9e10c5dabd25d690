import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './run.ts';

export interface ImageConfig {
  readonly Env: readonly string[];
  readonly Cmd: readonly string[];
  readonly User: string;
  readonly WorkingDir: string;
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly Labels: Readonly<Record<string, string>>;
}

/** Buildah with a storage of its own, so that nothing of it stays on the machine. */
export class Buildah implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'image-try-'));
  readonly #policy = join(this.folder, 'policy.json');
  /** The label that buildah adds by itself is no part of an image. */
  readonly #images = ['--identity-label=false', '--signature-policy', this.#policy];
  readonly #path: string;
  readonly #storage: readonly string[];

  constructor(path: string) {
    this.#path = path;
    const at = (name: string) => {
      mkdirSync(join(this.folder, name));
      return join(this.folder, name);
    };
    this.#storage = ['--root', at('storage'), '--runroot', at('run')];
    // Without a registry there is nothing to verify: every image is built here.
    writeFileSync(this.#policy, '{"default":[{"type":"insecureAcceptAnything"}]}');
  }

  /** Builds by a Dockerfile; steps run in a chroot, since a container engine's namespaces may be forbidden. */
  build(tag: string, context: string, ...args: readonly string[]): void {
    const how = ['--isolation=chroot', '--layers=false', '--format=docker', '--pull-never'];
    this.run('build', ...how, ...this.#images, ...args, '-t', tag, context);
  }

  config(image: string): ImageConfig {
    return JSON.parse(this.run('inspect', '--type=image', image)).Docker.config;
  }

  /** A new container, and the folder that is its root. */
  from(image: string): { readonly container: string; readonly folder: string } {
    const policy = ['--pull-never', '--signature-policy', this.#policy];
    const container = this.run('from', ...policy, image);
    return { container, folder: this.run('mount', container) };
  }

  /** Makes an image of a container, which ends by it. */
  commit(container: string, tag: string): void {
    this.run('commit', '--rm', ...this.#images, container, tag);
  }

  run(...args: readonly string[]): string {
    return run(this.#path, [...this.#storage, ...args]);
  }

  [Symbol.dispose](): void {
    this.run('umount', '--all');
    this.run('rm', '--all');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
