import { resolve } from 'node:path'
import { AppError } from '../../../errors.ts'
import { command, printResult } from '../../command.ts'
import { becomeOwner } from '../../data-dir.ts'
import { nonEmpty } from '../../option-formats.ts'
import { WHOLE_PLACE } from '../../place/options.ts'
import { placeOf, refuseWithoutRegion } from '../../place/place.ts'
import { durationText, progressOf } from '../../progress.ts'
import { lendToLibraries } from '../../settings.ts'

const DONE_IN_PART = 3
const SHOWN = 20

const TO = {
  value: 'URL',
  fallback: undefined,
  help: 'the PostgreSQL that the data go to; else that of --database or --database-file',
  format: nonEmpty,
}

export const migrate = command({
  name: 'migrate',
  positionals: [],
  summary: 'move a data directory to a database and a place for contents that several nodes share',
  about: `The server of the data directory must be stopped, and the database be empty. Rates, documents, keys, tokens, hooks, events
and all else go there with their ids; both sides are compared; then the data directory is no longer served, which the file
MOVED in it says, and nodes may start on the database. What was cut off is gone on with when the command is called again,
and until its end the directory may be served as before. Contents that are missing or altered are named, answered with 410
from then on, and the exit code is 3.`,
  options: ['to', ...WHOLE_PLACE, 'json'],
  own: { to: TO },
  changesData: true,
  example: 'cambista migrate --database-file /etc/cambista/database --blobs s3://cambista/documents',
  async run({ options, flags, settings, terminal }) {
    const { to, database: _database, 'database-file': _file, ...others } = options
    const target = to === undefined ? options : { ...others, database: to }
    // The data directory is what is moved: it is not ignored.
    const given = to === undefined ? flags.filter((name) => name !== 'data-dir') : ['database']
    const say = (text: string) => terminal.err(text)
    const place = placeOf(target, { flags: given, say })
    lendToLibraries(settings)
    refuseWithoutRegion(place, process.env)
    const { database: url } = place
    if (url === undefined) throw new AppError('usage', 'where to? Give --to, --database or --database-file')
    const dataDir = resolve(options['data-dir'])
    becomeOwner(dataDir)
    const { moveDataDir } = await import('../../../domain/move/move.ts')
    const line = progressOf(terminal, { plainEveryMs: 10_000 })
    const begunAt = performance.now()
    const moved = await moveDataDir({
      ...{ dataDir, to: { ...place, database: url }, signal: terminal.stop },
      progress: (what, done, of) => line.show(`${what}: ${done} of ${of}`),
    }).finally(line.clear)
    for (const { sha256, fault } of moved.lost.slice(0, SHOWN))
      say(`content ${sha256} ${fault}: it is not moved\n`)
    if (moved.lost.length > SHOWN) say(`and ${moved.lost.length - SHOWN} more contents\n`)
    const rows = Object.values(moved.rows).reduce((sum, count) => sum + count, 0)
    const took = durationText(performance.now() - begunAt)
    const { count, bytes } = moved.contents
    printResult(terminal, options, { data_dir: dataDir, ...moved }, [
      `${dataDir} is moved to ${moved.database} in ${took}: ${rows} rows (${moved.rows.rates} rates, ${moved.rows.documents} documents), ${count} contents of ${bytes} bytes`,
      'both sides are equal. Nodes may start on the database; the directory is no longer served (MOVED)',
      ...((moved.rows.hooks ?? 0) > 0
        ? [`hooks: give each node a copy of ${dataDir}/hook.key, by --hook-key-file`]
        : []),
    ])
    return moved.lost.length > 0 ? DONE_IN_PART : 0
  },
})
