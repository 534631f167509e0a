// Settings of Patroni, PostgreSQL and HAProxy for a test. Times are the shortest with which Patroni works, and passwords
// are replaced by trust.

import { join } from 'node:path'

/** `strict`: no commit without a standby. `synchronous`: without one commits continue. `asynchronous`: none wait. */
export type PatroniMode = 'strict' | 'synchronous' | 'asynchronous'

export type Member = { name: string; host: string; dir: string }

/** Folder of Debian's PostgreSQL programs. */
export const POSTGRES_BIN = '/usr/lib/postgresql/15/bin'
/**
 * Term of a primary in seconds. Patroni 3.0.2 has no minimum, and later versions raise it to 20. Patroni requires
 * `loop_wait` + 2 * `retry_timeout` <= `ttl`.
 */
export const TTL = 8
const [LOOP_WAIT, RETRY_TIMEOUT] = [1, 3]
export const [POSTGRES_PORT, REST_PORT, ETCD_PORT] = [5432, 8008, 2379]

/** Settings of a member. JSON is YAML. */
export function patroniSettings({ name, host, dir }: Member, etcdHost: string, mode: PatroniMode): string {
  const user = (username: string) => ({ username, password: 'unused' })
  return JSON.stringify({
    scope: 'cambista',
    name,
    restapi: { listen: `${host}:${REST_PORT}`, connect_address: `${host}:${REST_PORT}` },
    etcd3: { host: `${etcdHost}:${ETCD_PORT}` },
    bootstrap: {
      dcs: {
        ...{ ttl: TTL, loop_wait: LOOP_WAIT, retry_timeout: RETRY_TIMEOUT },
        maximum_lag_on_failover: 2 ** 30, // a standby without the last commits is better than none
        synchronous_mode: mode !== 'asynchronous',
        synchronous_mode_strict: mode === 'strict',
        postgresql: { use_pg_rewind: true, use_slots: true },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, { auth: 'trust' }, 'no-sync'],
    },
    postgresql: {
      listen: `${host}:${POSTGRES_PORT}`,
      connect_address: `${host}:${POSTGRES_PORT}`,
      data_dir: join(dir, 'data'),
      bin_dir: POSTGRES_BIN,
      pgpass: join(dir, 'pgpass'),
      authentication: {
        superuser: user('cambista'),
        replication: user('replicator'),
        rewind: user('rewinder'),
      },
      parameters: {
        ...{ unix_socket_directories: dir, fsync: 'off', max_connections: 200 },
        ...{ wal_retrieve_retry_interval: '500ms', wal_keep_size: '1GB' },
        ...{ shared_buffers: '32MB', log_min_messages: 'log' },
      },
      pg_hba: ['local all all trust', 'host all all 0.0.0.0/0 trust', 'host replication all 0.0.0.0/0 trust'],
    },
    watchdog: { mode: 'off' },
  })
}

/** Settings of HAProxy: connections reach the member whose Patroni answers `/primary` with 200. */
export function haproxySettings(members: readonly Member[]): string {
  return [
    'defaults',
    '  mode tcp',
    '  timeout connect 1s',
    '  retries 0',
    '  timeout client 30m',
    '  timeout server 30m',
    '  timeout check 1s',
    'listen primary',
    `  bind :${POSTGRES_PORT}`,
    '  option httpchk GET /primary',
    '  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions',
    ...members.map(({ name, host }) => `  server ${name} ${host}:${POSTGRES_PORT} check port ${REST_PORT}`),
    '',
  ].join('\n')
}
