import type { FiringAlert } from './prometheus.ts';
import type { NightHealth } from './replica.ts';
import type { Line, Stage } from './stage.ts';

/** The evidence of a fault that somebody on call has, without its name: file by file, as a drill hands it out. */
export type Evidence = Readonly<Record<string, string>>;

/** Keeps what told of a fault, and when. */
export class NightRecord {
  readonly #stage: Stage;
  readonly #alerts: string[] = [];
  readonly #healths: string[] = [];
  readonly #known = new Set<string>();
  /** The readiness of each replica that was written down last. */
  readonly #former: string[] = [];
  #metricsBefore: Evidence = {};

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Called while all is well. */
  async begin(): Promise<void> {
    this.#metricsBefore = await this.#metrics('before');
  }

  note(alerts: readonly FiringAlert[], healths: readonly (NightHealth | null)[]): void {
    for (const { name, labels, summary, runbook } of alerts) {
      const series = JSON.stringify({ name, labels });
      if (this.#known.has(series)) continue;
      this.#known.add(series);
      const { alertname: _name, job: _job, ...shown } = labels;
      this.#alerts.push(`${now()} ${name} ${JSON.stringify(shown)} ${summary} -> ${runbook}`);
    }
    for (const [at, health] of healths.entries()) {
      const says = health === null ? 'no answer' : JSON.stringify(health);
      if (says === this.#former[at]) continue;
      this.#former[at] = says;
      this.#healths.push(`${now()} replica-${at + 1} ${says}`);
    }
  }

  async end(logs: readonly (readonly Line[])[]): Promise<Evidence> {
    const sources = [...this.#stage.replicas.map((_, at) => `replica-${at + 1}`), 'haproxy'];
    return {
      'alerts.txt': text(this.#alerts),
      'readiness.txt': text(this.#healths),
      ...Object.fromEntries(
        logs.map((log, at) => [`${sources[at]}.jsonl`, text(log.map((l) => JSON.stringify(l)))]),
      ),
      ...this.#metricsBefore,
      ...(await this.#metrics('after')),
    };
  }

  async #metrics(when: 'before' | 'after'): Promise<Evidence> {
    const texts = await Promise.all(this.#stage.replicas.map((replica) => replica.metrics()));
    return Object.fromEntries(texts.map((each, at) => [`replica-${at + 1}.${when}.prom`, each]));
  }
}

function now(): string {
  return new Date().toISOString();
}

function text(lines: readonly string[]): string {
  return lines.map((each) => `${each}\n`).join('');
}
