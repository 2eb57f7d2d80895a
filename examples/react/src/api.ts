import { QueryClient } from '@tanstack/react-query';
import axios from 'axios';
import { retry } from 'nestjs-session-auth-client/query';
import { client } from './client';

export const api = axios.create({
  baseURL: '/api',
  adapter: 'fetch',
  env: { fetch: (input, init) => client.fetch(input, init) },
});

export const queries = new QueryClient({ defaultOptions: { queries: { retry } } });
client.onSessionEnd(() => queries.clear());
client.on('sessionChanged', () => void queries.resetQueries()); // and loads what is shown for the new user
