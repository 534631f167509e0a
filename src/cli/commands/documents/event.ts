import { historyOf, newestEvents } from '../../../domain/documents/history.ts'
import { command, printResult, table } from '../../command.ts'
import { PLACE } from '../../place/options.ts'

export const eventList = command({
  name: 'event list',
  positionals: [],
  summary:
    'list who claimed, finished or deleted which document and which links signed in: the newest, or all of a document',
  about: `With --document also who sent it, which its row tells and is no event. ACTOR is the name of a key or token, or cli
and the user of this system, or the server by itself, where it gave up a document after --max-attempts. Times are UTC.
Events are kept for as long as the server is told by --keep-events.`,
  options: ['document', 'limit', 'before', ...PLACE, 'json'],
  changesData: false,
  example: 'cambista event list --document 41',
  run({ options, terminal, withDatabase }) {
    const [documentId, before] = [options.document, options.before]
    const { limit } = options
    return withDatabase({ mustExist: true }, async (db) => {
      const filter = { before, limit: limit + 1 }
      const found = await (documentId === undefined
        ? newestEvents(db, filter)
        : historyOf(db, documentId, filter))
      const events = found.slice(-limit)
      const rows = events.map((one) => [
        String(one.id ?? ''),
        one.at,
        one.kind,
        one.via === null ? 'unknown' : `${one.via} ${one.actor}`,
        String(one.document_id ?? ''),
        String(one.company_id ?? ''),
        one.sha256 ?? '',
      ])
      const head = ['ID', 'AT', 'KIND', 'ACTOR', 'DOCUMENT', 'COMPANY', 'SHA256']
      printResult(terminal, options, events, table([head, ...rows]))
      if (found.length > limit) terminal.err(`There are older ones: go on with --before ${events[0]?.id}\n`)
      return 0
    })
  },
})
