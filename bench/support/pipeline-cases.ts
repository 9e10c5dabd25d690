/** An operation without a call of the gateway, or one that is refused. */
export interface PipelineCase {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What a contestant is asked: to run the operation so many times. */
export interface PipelineSample {
  readonly operation: PipelineCase;
  readonly times: number;
}

export const PIPELINE_CASES: readonly PipelineCase[] = [
  { name: 'an operation: `{ __typename }`', params: { query: '{ __typename }' } },
  { name: 'refused: a field of the wrong name', params: { query: '{ nope }' } },
  { name: 'refused: no document', params: { variables: {} } },
  {
    name: 'refused: a variable is missing',
    params: { query: 'query($id: ID!) { instrument(id: $id) { id } }' },
  },
];
