// Asks the registry for known vulnerabilities of the packages used in production. It fails for those
// of high or critical severity alone. A registry that does not answer is reported, but fails nothing:
// many mirrors have no such service, and a release must not wait for it. `node scripts/audit.ts [folder]`
import { spawnSync } from 'node:child_process';

const FAILING = ['high', 'critical'];

interface Report {
  /** The reason why there is no report. */
  readonly message?: string;
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> };
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>;
}

interface Vulnerability {
  readonly name: string;
  readonly severity: string;
  /** An advisory, or the name of the vulnerable package that this one depends on. */
  readonly via: readonly (string | { readonly title: string; readonly url: string })[];
}

const [folder = '.'] = process.argv.slice(2);
const { stdout, error } = spawnSync(
  'npm',
  ['audit', '--package-lock-only', '--omit=dev', '--omit=optional', '--json', '--fetch-retries=1'],
  { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 120_000 },
);
const report: Report | null = stdout?.startsWith('{') ? JSON.parse(stdout) : null;
if (report?.metadata === undefined) {
  const reason = error?.message ?? report?.message ?? 'no report';
  console.log(`The registry did not answer, so nothing is known of vulnerabilities: ${reason}`);
} else {
  const found = Object.values(report.vulnerabilities ?? {});
  for (const one of found) console.log(describe(one));
  const failing = found.filter(({ severity }) => FAILING.includes(severity)).length;
  console.log(
    `${found.length} packages with known vulnerabilities, ${failing} of them high or critical`,
  );
  process.exitCode = failing > 0 ? 1 : 0;
}

function describe({ name, severity, via }: Vulnerability): string {
  const reasons = via.map((one) => (typeof one === 'string' ? one : `${one.title} ${one.url}`));
  return `${severity}: ${name}: ${reasons.join('; ')}`;
}
