import { resolve } from 'node:path'
import { moveDataDir } from '../../../domain/operations/move/move.ts'
import { AppError } from '../../../runtime/errors.ts'
import { movedNote } from '../../../store/cluster/moved-note.ts'
import { command, printResult } from '../../command.ts'
import { nonEmpty } from '../../options/formats.ts'
import { option } from '../../options/names.ts'
import { STORAGE_WITH_BLOBS } from '../../options/storage.ts'
import { outgoingProxies } from '../../parse/proxies.ts'
import { exportLibraryEnv, trustExtraCertificates } from '../../parse/settings.ts'
import { createProgress, durationText } from '../../progress-line.ts'
import { becomeOwner } from '../../storage/data-dir.ts'
import { refuseWithoutRegion, storageConfig } from '../../storage/storage-options.ts'

const DONE_IN_PART = 3
const MAX_LISTED = 20

export const clusterImport = command({
  name: 'cluster import',
  options: ['to', ...STORAGE_WITH_BLOBS, 'json'],
  overrides: { to: option('URL', nonEmpty) },
  changesData: true,
  async run({ options, flags, settings, terminal }) {
    const { to, database: _database, 'database-file': _file, ...others } = options
    const target = to === undefined ? options : { ...others, database: to }
    // The command reads --data-dir, so storageConfig must not warn that it is ignored.
    const usedFlags = to === undefined ? flags.filter((name) => name !== 'data-dir') : ['database']
    const print = (text: string) => terminal.err(text)
    const outgoing = outgoingProxies(terminal.env, settings)
    const config = { ...storageConfig(target, { flags: usedFlags, warn: print }), outgoing }
    exportLibraryEnv(settings)
    trustExtraCertificates(settings, print)
    refuseWithoutRegion(config, process.env)
    const { database: url } = config
    if (url === undefined)
      throw new AppError('usage', 'the target is missing: give --to, --database or --database-file')
    const dataDir = resolve(options['data-dir'])
    becomeOwner(dataDir)
    const line = createProgress(terminal, { plainEveryMs: 10_000 })
    const startMs = performance.now()
    const result = await moveDataDir({
      ...{ dataDir, to: { ...config, database: url }, signal: terminal.stop },
      progress: (what, done, of) => line.show(`${what}: ${done} of ${of}`),
    }).finally(line.clear)
    if (!result) {
      const words = `${dataDir} was moved already: ${movedNote(dataDir)} Nodes may start on the database`
      printResult(terminal, options, { data_dir: dataDir, moved_before: true }, [words])
      return 0
    }
    for (const { sha256, fault } of result.lost.slice(0, MAX_LISTED))
      print(`content ${sha256} ${fault}: it is not moved\n`)
    if (result.lost.length > MAX_LISTED) print(`and ${result.lost.length - MAX_LISTED} more contents\n`)
    const rows = Object.values(result.rows).reduce((sum, count) => sum + count, 0)
    const duration = durationText(performance.now() - startMs)
    const { count, bytes } = result.contents
    printResult(terminal, options, { data_dir: dataDir, ...result }, [
      `${dataDir} is moved to ${result.database} in ${duration}: ${rows} rows (${result.rows.rates} rates, ${result.rows.documents} documents), ${count} contents of ${bytes} bytes`,
      'both sides are equal. Nodes may start on the database; the directory is no longer served (MOVED)',
      ...((result.rows.hooks ?? 0) > 0
        ? [`hooks: give each node a copy of ${dataDir}/hook.key, by --hook-key-file`]
        : []),
    ])
    return result.lost.length > 0 ? DONE_IN_PART : 0
  },
})
