const HEAD = `# Only for a cluster with the Prometheus Operator. Written by \`npm run docs\` from deploy/prometheus/alerts.yml.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: trading-graph
spec:
`;

/** The groups of `alerts.yml` as a resource of the Prometheus Operator. */
export function prometheusRule(alerts: string): string {
  const groups = alerts.slice(alerts.indexOf('\ngroups:') + 1);
  return HEAD + groups.replace(/^(?=.)/gm, '  ');
}
