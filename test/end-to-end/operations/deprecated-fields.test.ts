import type { GraphQLObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { buildSchema } from '../../../src/schema/schema.ts';
import { startTestApp } from '../../support/app.ts';
import { readMetrics } from '../../support/leaks.ts';
import { initializedSocket } from '../live/raw-socket.ts';

/** The schema with a field that is on its way out. */
function withDeprecated(typeName: string, fieldName: string) {
  const schema = buildSchema();
  const field = (schema.getType(typeName) as GraphQLObjectType).getFields()[fieldName];
  if (field !== undefined) field.deprecationReason = 'Ask for another.';
  return schema;
}

test('who still selects a deprecated field is counted, by the clients that are listed', async () => {
  const schema = withDeprecated('Position', 'rateProfit');
  await using app = await startTestApp({ CLIENT_NAMES: 'ios, web' }, { schema });
  const token = await app.signIn();
  const ask = (document: string, name: string, version: string) =>
    app.query(document, {
      token,
      headers: { 'apollographql-client-name': name, 'apollographql-client-version': version },
    });
  const old = '{ positions { ...rates } } fragment rates on Position { id rateProfit }';
  await ask(old, 'ios', '4.2.1');
  await ask(old, 'ios', '4.2.7');
  await ask(old, 'android', '1.0.0');
  await ask('{ positions { id } }', 'web', '1.0.0');
  using socket = await initializedSocket(app, token);
  socket.subscribe('1', '{ positions { rateProfit } }');
  await socket.until('1', 'complete');
  const counted = (await readMetrics(app.adminUrl))
    .split('\n')
    .filter((line) => /_deprecated_fields_total\{.*[1-9]$/.test(line));
  expect(counted).toEqual([
    'trading_graph_deprecated_fields_total{field="Position.rateProfit",client="ios",version="4.2"} 2',
  ]);
});
