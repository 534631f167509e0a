// Standbys of a test server. A standby follows by streaming replication until the test promotes it. Nodes use the
// address of a switch (switch.ts), which leads to either server. A failover that loses commits:
//
//   `const primary = await startPostgres()`
//   `const standby = await startStandby(primary)`
//   `const entry = await startSwitch(t, primary)` for nodes over `entry.url`
//   `await pauseReplication(standby)` loses all later commits
//   `await primary.crash()`, or `freeze()`
//   `await promote(standby)`
//   `entry.lead(standby)`
//
// Replication is asynchronous. After `setSynchronous(primary, true)` commits wait for a standby without end, as in the
// strict mode of Patroni. A promoted server waits for none until the test sets that. The former primary can be started
// or resumed as a deposed one. There is no pg_rewind, so it cannot become a standby: start another one. The test
// closes each server.

import { chownSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { until } from '../terminal.ts'
import {
  makeServerDirectory,
  NOBODY,
  type PostgresServer,
  queryOnce,
  runServerProgram,
  startServer,
} from './server.ts'

/** WAL that a primary retains while the replication to a standby is paused. */
const RETAINED_WAL = '1GB'
const LEFT_OUT = ['postmaster.pid', 'postmaster.opts', 'pg_wal/?*', 'pg_replslot/?*', 'pg_stat_tmp/?*']

/** Starts a standby of a running server, and returns after it has replayed all data. A standby answers reads. */
export async function startStandby(
  primary: PostgresServer,
  settings: readonly string[] = [],
): Promise<PostgresServer> {
  const dir = makeServerDirectory()
  await setOption(primary, 'wal_keep_size', RETAINED_WAL)
  const label = await copyData(primary, dir)
  const files = {
    backup_label: label,
    'standby.signal': '',
    'postgresql.auto.conf': [
      `wal_keep_size = '${RETAINED_WAL}'`,
      `wal_retrieve_retry_interval = 100`, // after a lost connection; by default five seconds
      `primary_conninfo = '${connection(primary)}'\n`,
    ].join('\n'),
  }
  for (const [name, text] of Object.entries(files)) writeData(dir, name, text)
  const standby = await startServer(dir, settings)
  await waitUntilReplayed(primary, standby)
  return standby
}

/** Makes a base backup of a running server. The returned function puts it back in place of the data, and starts the server. */
export async function makeBaseBackup(server: PostgresServer): Promise<() => Promise<void>> {
  const dir = makeServerDirectory()
  const label = await copyData(server, dir)
  writeData(dir, 'backup_label', label)
  const [from, to] = [server, { dir }].map((one) => join(one.dir, 'data/pg_wal'))
  await runServerProgram(dir, ['/bin/sh', '-c', `cp -r ${from}/* ${to}`]) // WAL of the copy, and none of later commits
  return async () => {
    await server.stop()
    rmSync(join(server.dir, 'data'), { recursive: true })
    renameSync(join(dir, 'data'), join(server.dir, 'data'))
    await server.start()
  }
}

/** Cuts the replication off: later commits of the primary do not reach the standby, nor its promotion. */
export async function pauseReplication(standby: PostgresServer): Promise<void> {
  await setOption(standby, 'primary_conninfo', '')
  await until(async () => (await queryOnce(standby.url, 'select from pg_stat_wal_receiver')).length === 0)
}

/** Resumes the replication after `pauseReplication`. */
export async function resumeReplication(standby: PostgresServer, primary: PostgresServer): Promise<void> {
  await setOption(standby, 'primary_conninfo', connection(primary))
}

/** Waits until a standby has replayed all that the primary has written so far. */
export async function waitUntilReplayed(primary: PostgresServer, standby: PostgresServer): Promise<void> {
  const [row] = await queryOnce(primary.url, 'select pg_current_wal_flush_lsn() as lsn')
  const replayed = `select pg_last_wal_replay_lsn() >= '${row?.lsn}'::pg_lsn as done`
  await until(async () => (await queryOnce(standby.url, replayed))[0]?.done === true)
}

/** Sets whether commits of a primary wait until a standby has flushed them. */
export async function setSynchronous(primary: PostgresServer, waits: boolean): Promise<void> {
  await setOption(primary, 'synchronous_standby_names', waits ? '*' : '')
}

/** Makes a standby the primary, with the data that it has received. Its timeline is one higher. */
export async function promote(standby: PostgresServer): Promise<void> {
  const [row] = await queryOnce(standby.url, 'select pg_promote() as done')
  if (row?.done !== true) throw new Error('the standby was not promoted within a minute')
}

/**
 * Timeline of a server. After a promotion the control file has the former one until the first checkpoint, which may
 * take minutes. The name of the present WAL file has the new one at once.
 */
export async function readTimeline(server: PostgresServer): Promise<number> {
  const [row] = await queryOnce(
    server.url,
    `select case when pg_is_in_recovery() then (select timeline_id from pg_control_checkpoint())
       else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`,
  )
  return Number(row?.timeline)
}

function writeData(dir: string, name: string, text: string): void {
  const path = join(dir, 'data', name)
  writeFileSync(path, text, { mode: 0o600 })
  if (process.getuid?.() === 0) chownSync(path, NOBODY, NOBODY)
}

function connection({ dir }: PostgresServer): string {
  return `host=${dir} user=cambista`
}

/** Sets an option of a running server, which reads it within a moment. */
async function setOption({ url }: PostgresServer, name: string, value: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(`alter system set ${name} = '${value}'`) // in no transaction, so alone
    await client.query('select pg_reload_conf()')
    await until(async () => (await client.query(`show ${name}`)).rows[0]?.[name] === value)
  } finally {
    await client.end()
  }
}

/** Copies a running server, as pg_basebackup does, which the package lacks. Returns the label of the backup. */
async function copyData(primary: PostgresServer, dir: string): Promise<string> {
  const client = new pg.Client(primary.url)
  await client.connect() // the session that starts a backup must end it
  try {
    await client.query(`select pg_backup_start('standby', fast => true)`)
    const exclude = LEFT_OUT.map((name) => `--exclude='./${name}'`).join(' ')
    const [from, to] = [join(primary.dir, 'data'), join(dir, 'data')]
    const copy = `mkdir -m 700 ${to} && { tar -C ${from} ${exclude} --warning=no-file-changed -cf - . || [ $? -eq 1 ]; } | tar -C ${to} -xf -`
    await runServerProgram(dir, ['/bin/sh', '-c', copy]) // tar exits with 1 where a file changed, which WAL repairs
    const { rows } = await client.query('select labelfile from pg_backup_stop(wait_for_archive => false)')
    return (rows[0] as { labelfile: string }).labelfile
  } finally {
    await client.end()
  }
}
