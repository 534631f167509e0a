// Places where tests of the gate measure the machine, each with its reason (machine.test.ts counts them).

/** A wait for a fixed time, the clock of the machine, or a limit below ten seconds. */
export type Measure = 'wait' | 'clock' | 'limit'

export const EXCEPTIONS: Readonly<
  Record<Measure, Readonly<Record<string, { times: number; reason: string }>>>
> = {
  wait: {
    'test/engines/maintenance/move.test.ts': { times: 1, reason: 'kills a move after a random time' },
    'test/faults/disks/power-cuts.test.ts': { times: 1, reason: 'cuts the power after a random time' },
    'test/support/bucket/fake-bucket.ts': { times: 1, reason: 'a slow bucket' },
    'test/support/documents/claim-workers.ts': {
      times: 4,
      reason: 'workers that poll, and that work longer than their lease',
    },
    'test/support/postgres/server.ts': { times: 1, reason: 'polls a server that starts' },
    'test/support/rates/seeded-bank.ts': { times: 1, reason: 'a slow bank' },
    'test/support/sources/replay.ts': { times: 1, reason: 'a slow source' },
    'test/support/terminal.ts': { times: 1, reason: '`until` itself' },
    'test/unit/domain/documents/arrivals.test.ts': {
      times: 1,
      reason: 'clients that leave after a random time',
    },
    'test/unit/domain/documents/removal-beside-uploads.test.ts': {
      times: 1,
      reason: 'a transaction that stays open; a stall only prolongs it',
    },
    'test/unit/domain/operations/doctor/doctor.test.ts': {
      times: 1,
      reason: 'the pace of uploads beside the doctor',
    },
    'test/unit/domain/operations/earlier-database.test.ts': {
      times: 1,
      reason: 'another process that stays alive',
    },
    'test/unit/store/blobs/bucket/bucket.test.ts': { times: 1, reason: 'a slow bucket' },
    'test/unit/store/sqlite/migration-copy.test.ts': {
      times: 1,
      reason: 'kills an upgrade after a random time',
    },
    'test/unit/store/sqlite/processes.test.ts': {
      times: 1,
      reason: 'another process that holds a lock; its patience is 60 s',
    },
    'test/unit/web/documents/directory.test.ts': {
      times: 2,
      reason: 'a timer of the page that ends after 20 ms instead of 8 s',
    },
    'test/unit/web/documents/live-documents.test.ts': {
      times: 1,
      reason: 'a server that answers a long poll late',
    },
    'test/web/security/security-policy.test.ts': { times: 2, reason: 'an attack of the policy' },
  },
  clock: {
    'test/api/compat/dollar-copies.test.ts': { times: 2, reason: 'brackets an instant of the server' },
    'test/api/documents/claims.test.ts': { times: 2, reason: 'brackets an instant of the database' },
    'test/api/new-secrets.test.ts': { times: 2, reason: 'a rate limit, measured over the time that passed' },
    'test/api/rates/as-of-stores.test.ts': { times: 3, reason: 'a stored instant' },
    'test/api/rates/pair-history.test.ts': { times: 1, reason: 'a stored instant' },
    'test/api/support.ts': { times: 3, reason: 'a stored instant' },
    'test/architecture.test.ts': { times: 1, reason: 'an example of a lint' },
    'test/clients/support.ts': { times: 1, reason: 'the validity of a certificate' },
    'test/contract/blobs.ts': { times: 1, reason: 'an instant of the disk, within an hour' },
    'test/engines/claims.test.ts': { times: 2, reason: 'the clock of the database runs fast' },
    'test/examples/guides.ts': {
      times: 2,
      reason: 'the programs of the guides use the clock of the machine',
    },
    'test/faults/rates-model.test.ts': { times: 1, reason: 'a stored instant' },
    'test/support/bucket/fake-bucket.ts': { times: 1, reason: 'an instant of an object' },
    'test/support/documents/claim-workers.ts': {
      times: 4,
      reason: 'the model of a lease, by the clock of its database',
    },
    'test/support/documents/server-process.ts': { times: 2, reason: 'a clock that is wrong on purpose' },
    'test/support/older-schema.ts': { times: 1, reason: 'a stored instant' },
    'test/support/postgres/server.ts': { times: 2, reason: 'a server that never starts; 60 s' },
    'test/support/rates/random-store.ts': { times: 1, reason: 'a stored instant' },
    'test/support/terminal.ts': { times: 2, reason: '`until` itself' },
    'test/unit/cli/commands/backup.test.ts': { times: 2, reason: 'brackets an instant of a backup' },
    'test/unit/cli/commands/certificates/cert.test.ts': { times: 2, reason: 'the validity of a certificate' },
    'test/unit/cli/commands/certificates/intercept-cert.test.ts': {
      times: 1,
      reason: 'the validity of a certificate',
    },
    'test/unit/cli/commands/hooks/hook.test.ts': { times: 1, reason: 'a stored instant' },
    'test/unit/domain/documents/uploads-to-a-bucket.test.ts': { times: 1, reason: 'a stored instant' },
    'test/unit/domain/operations/database-watch.test.ts': {
      times: 2,
      reason: 'a stall is the subject: the test causes it',
    },
    'test/unit/domain/operations/doctor/doctor.test.ts': { times: 1, reason: 'a stored instant' },
    'test/unit/store/blobs/large-batch.test.ts': {
      times: 2,
      reason: 'a disk that takes 20 microseconds a file',
    },
    'test/unit/store/sqlite/migrations.test.ts': { times: 2, reason: 'brackets an instant of a migration' },
    'test/unit/sync/meter.test.ts': { times: 2, reason: 'a ratio of two times of one run' },
    'test/web/security/attacker.ts': { times: 2, reason: 'the validity of a certificate' },
    'test/web/support.ts': { times: 1, reason: 'the clock of the browser starts here' },
  },
  limit: {
    'test/unit/store/sqlite/litestream.test.ts': {
      times: 1,
      reason: 'the connection of another program waits as Litestream does',
    },
  },
}
