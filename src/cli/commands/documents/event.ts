import { selectEvents } from '../../../store/events.ts'
import { command, printResult, table } from '../../command.ts'

export const eventList = command({
  name: 'event list',
  positionals: [],
  summary:
    'list who deleted which document and which links signed in, and when: the newest, of all or of a document',
  about: `ACTOR is the name of a key or token, or cli and the user of this system. Times are UTC. Events are kept for as long as
the server is told by --keep-events.`,
  options: ['document', 'limit', 'before', 'data-dir', 'json'],
  changesData: false,
  example: 'cambista event list --document 41',
  run({ options, terminal, withDatabase }) {
    const [documentId, before] = [options.document, options.before]
    const { limit } = options
    return withDatabase({ mustExist: true }, async (db) => {
      const found = await selectEvents(db, { documentId, before, limit: limit + 1 })
      const events = found.slice(-limit)
      const rows = events.map((one) => [
        String(one.id),
        one.at,
        one.kind,
        `${one.via} ${one.actor}`,
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
