import { DateTimeResolver, JSONResolver } from 'graphql-scalars';
import { builder } from './builder.ts';

DateTimeResolver.description = 'A moment in ISO 8601, in UTC: `2026-11-20T09:30:00.000Z`.';
JSONResolver.description = 'Any JSON value, passed on as it is.';

builder.addScalarType('DateTime', DateTimeResolver);
builder.addScalarType('JSON', JSONResolver);
