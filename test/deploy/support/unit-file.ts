import { parsePairs } from '../../support/dockerfile.ts';
import { readDeployed } from './files.ts';

/** A template unit of systemd as one of its instances sees it; a key that repeats has several values. */
class UnitFile {
  readonly #values = new Map<string, string[]>();

  constructor(text: string, instance: string) {
    let section = '';
    for (const line of text.replaceAll('%i', instance).split('\n')) {
      const [, name] = /^\[(\w+)\]$/.exec(line) ?? [];
      section = name ?? section;
      const [, key, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
      if (key === undefined) continue;
      const values = this.#values.get(`${section}.${key}`) ?? [];
      this.#values.set(`${section}.${key}`, [...values, value]);
    }
  }

  value(key: string): string | undefined {
    return this.#values.get(`Service.${key}`)?.at(-1);
  }

  /** As a test may have it, which writes nothing outside of its folder. */
  get environment(): Record<string, string> {
    const { NODE_COMPILE_CACHE: _ofTheMachine, ...environment } = parsePairs(
      this.#values.get('Service.Environment')?.join(' ') ?? '',
    );
    return environment;
  }
}

export const unitText = readDeployed('one-machine', 'trading-graph@.service');

/** The load balancer's variables, among them the address of each process. */
export const balancer = Object.fromEntries(
  [...readDeployed('one-machine', 'haproxy.env').matchAll(/^(\w+)=(.*)$/gm)].map(
    ([, name = '', value = '']) => [name, value],
  ),
);

export const replicas = Object.keys(balancer).filter((name) => name.startsWith('REPLICA_'));

export const units = replicas.map((_, at) => new UnitFile(unitText, String(at + 1)));
