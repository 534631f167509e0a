// A data directory with a row in every table of the current schema, or of an older database that exists. The test
// chooses the number of rates and documents.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { blobPath } from '../../../src/store/blobs/commit.ts'
import { DATABASE_FILE, openDatabase } from '../../../src/store/sqlite/database.ts'
import { CLAVE } from '../documents/invoice-xml.ts'

const AT = '2026-03-24T12:00:00.000Z'
const SERIES = 47

export type FilledDirectory = { contents: string[]; altered: string; missing: string; knownLost: string }

export async function fillDirectory(
  dataDir: string,
  { rates, documents }: { rates: number; documents: number },
): Promise<FilledDirectory> {
  if (!existsSync(join(dataDir, DATABASE_FILE))) await openDatabase(dataDir).destroy()
  const db = new Sqlite(join(dataDir, DATABASE_FILE))
  db.pragma('foreign_keys = on')
  const contents: string[] = []
  const [altered, missing, knownLost] = ['altered', 'missing', 'lost'].map((text) => hashText(text)) as [
    string,
    string,
    string,
  ]
  const put = (sha256: string, text: string) => {
    const path = blobPath(join(dataDir, 'blobs'), sha256)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  put(altered, 'other')
  db.transaction(() => {
    db.exec(`
      update meta set data_revision = 4711, record_from = 5, coverage_from = 7;
      insert into providers (id, code, name, country) values (1, 'bccr', 'Banco', 'CR'), (9, 'x', 'X', 'CR');
      insert into sync_runs (id, provider_id, trigger, status, message, started_at)
        values (3, 1, 'cli', 'ok', 'ñandú "€" 日本 \\ ''', '${AT}'), (8, 1, 'cli', 'error', null, '${AT}');
      insert into coverage_changes (changed_at, kind, days_from, days_to, series)
        values (5, 'added', '2020-01-01', '2020-01-02', '[1,2]');
      insert into catalogue_changes (changed_at, kind, provider_id) values (6, 'added', 1);
      insert into record_gaps values (1, 2), (1, 3);
      insert into api_keys (id, name, hash, created_at) values (5, 'k', 'h', '${AT}');
      insert into companies (id, name, code, created_at, quota, used) values (7, 'Café Británico', 'A', '${AT}', 9007199254740991, 5);
      insert into companies (id, name, code, created_at) values (900, 'gone', 'B', '${AT}');
      delete from companies where id = 900;
      insert into owners (id, name, created_at) values (2, 'O', '${AT}');
      insert into agents (id, company_id, name, created_at) values (4, 7, 'A', '${AT}');
      insert into tokens (id, name, hash, allow, created_at) values (6, 't', 'h', 'documents:POST', '${AT}');
      insert into former_secrets (hash, key_id, ends_at) values ('f', 5, '${AT}');
      insert into login_links (hash, key_id, ends_at) values ('${'b'.repeat(64)}', 5, '${AT}');
      insert into events (id, at, kind, via, actor) values (12, '${AT}', 'deleted', 'cli', 'ana');
      insert into idempotency values (6, 'Zoë', 'f', 'a', '${AT}'), (6, 'zoe', 'f', 'a', '${AT}'), (6, '~', 'f', 'a', '${AT}');
      insert into hooks (id, url, events, secret, created_at) values (1, 'https://a', 'document.created', x'00ff10', '${AT}');
      insert into hook_messages (hook_id, message_id, type, body, created_at, due_at) values (1, 'm', 't', '{}', '${AT}', '${AT}');
      insert into hook_days values (1, '2026-03-24');
      insert into lost_contents values ('${knownLost}', 'is missing', '${AT}');
    `)
    const schema = Number(db.pragma('user_version', { simple: true }))
    if (schema > 8) {
      db.exec(`
        insert into page_sessions (id, page, opened_at, used_at) values ('${'c'.repeat(64)}', 'p', '${AT}', '${AT}');
        insert into page_tickets (hash, session_id, ends_at) values ('d', '${'c'.repeat(64)}', '${AT}');
      `)
    }
    if (schema > 25)
      db.exec(`update hooks set allow_http = 1, headers = '{"X":null}', secret_headers = x'00ff'`)
    if (schema > 15) {
      db.exec(`
        insert into hook_deliveries (hook_id, message_id, type, body, created_at, tries, ended_at, status, failure)
          values (1, 'm', 't', '{}', '${AT}', 8, '${AT}', 503, 'HTTP 503');
      `)
    }
    if (schema > 16) {
      db.exec(`
        update api_keys set origins = 'https://tienda.example' where id = 5;
        insert into key_use values (5, '2026-03-24', 12);
        insert into key_networks values (5, '192.0.2.0/24', '${AT}');
      `)
    }
    if (schema > 19)
      db.exec(`insert into upload_links values ('${'d'.repeat(64)}', 6, 1, 1, 1, 'n', 'a/b', 1, '${AT}')`)
    if (schema > 20) {
      db.exec(`
        update meta set indicator_revision = 12, indicator_instant = 10;
        insert into indicators (code, provider_id, name, added_at) values ('423', 1, 'Tasa básica pasiva', 9);
        insert into indicator_values values ('423', '2026-03-23', '-0.25', 9), ('423', '2026-03-24', '0', 10);
        insert into indicator_coverage values ('423', '2026-03-01', '2026-03-24');
        insert into indicator_changes (code, changed_at, kind, days_from, days_to)
          values ('423', 9, 'added', '2026-03-01', '2026-03-24');
        insert into indicator_runs (id, provider_id, trigger, status, started_at) values (4, 1, 'cli', 'ok', '${AT}');
        insert into indicator_revisions (code, value_date, old_value, old_stored_at, new_value, replaced_at, run_id)
          values ('423', '2026-03-23', '0.25', 8, '-0.25', '${AT}', 4);
      `)
    }
    if (schema > 21) db.exec(`update api_keys set provider = 'ecb' where id = 5`)
    if (schema > 22) {
      db.exec(`insert into second_opinions values ('hacienda', '{"day": "2026-03-24", "requests": 2}')`)
    }
    const series = db.prepare(
      `insert into series (id, provider_id, external_code, name, base_currency, quote_currency, rate_type)
       values (?, 1, ?, 'S', ?, 'CRC', 'venta')`,
    )
    const rate = db.prepare('insert into rates values (?, ?, ?, ?, ?)')
    const cover = db.prepare(`insert into coverage values (?, 'answered', '1983-01-01', '2026-01-01')`)
    for (let id = 1; id <= SERIES; id++) {
      series.run(
        id,
        String(id),
        `A${String.fromCharCode(65 + (id % 26))}${String.fromCharCode(65 + id / 26)}`,
      )
      cover.run(id)
    }
    for (let at = 0; at < rates; at++) {
      const day = new Date(Date.UTC(1983, 0, 1) + Math.floor(at / SERIES) * 86_400_000)
        .toISOString()
        .slice(0, 10)
      rate.run((at % SERIES) + 1, day, `${at}.5`, at % 9 === 0 ? 2 : null, 1_774_353_600_000 + at)
    }
    db.exec(`insert into rate_revisions (series_id, rate_date, kind, old_value, new_value, replaced_at, run_id)
      values (1, '1983-01-01', 'correction', '1', '2', '${AT}', 3)`)
    if (schema > 25) {
      // An older program has written the series since the sums.
      db.exec(`
        update series set revision = 1 where id = 1;
        insert into rate_sums values (1, '1983', 1, 2, 3, 0);
        insert into withheld_rates values (1, '2026-01-02', '9', null, 'neighbour', 3);
        insert into empty_days values (1, '2026-01-03', 1, '2026-03-24');
      `)
    }
    const attachment = db.prepare(
      `insert into attachments (id, name, mimetype, size, sha256, created_at) values (?, 'a', 'text/plain', ?, ?, '${AT}')`,
    )
    const document = db.prepare(
      `insert into documents (id, attachment_id, company_id, agent_id, owner_id, name, created_at, created_by, state, lease_seconds)
       values (?, ?, 7, 4, 2, ?, '${AT}', 6, ?, ?)`,
    )
    for (let id = 1; id <= documents; id++) {
      const text = `content ${Math.ceil(id / 2)} `.repeat(100) // two documents share each blob
      const special = [altered, missing, knownLost][id - documents + 2]
      const sha256 = special ?? hashText(text)
      if (!special) contents.push(sha256)
      if (!special) put(sha256, text)
      attachment.run(id * 3, text.length, sha256)
      document.run(id, id * 3, `document ${id}`, id === 1 ? 'claimed' : 'new', id === 1 ? 600 : null)
    }
    if (schema > 17) {
      const result = '{"total": 1.10, "moneda": "₡"}'
      db.prepare('insert into document_results values (2, ?, ?)').run(result, Buffer.byteLength(result))
    }
    if (schema > 23) {
      db.exec(`
        insert into invoices (document_id, company_id, source, kind, version, clave, total, refs, reader)
          select id, company_id, 'content', 'FacturaElectronica', '4.4', '${CLAVE}', '1130', '[]', 1
            from documents order by id limit 2`)
    }
    if (schema > 24) {
      db.exec(`
        update meta set invoice_reader = 1, unread_before = 40;
        update companies set tax_ids = '3101123456,112340567' where id = 7;
        insert into mailboxes (id, name, host, port, security, user_name, password_file, folder, done, rejected,
            company_id, agent_id, owner_id, allow_from, by_tag, largest, created_at, paused_at, pause_reason)
          values (3, 'facturas', 'imap.example.com', 993, 'tls', 'facturas@example.com', '/secrets/facturas', 'INBOX',
            'Procesados', 'Rechazados', 7, 4, 2, 'example.com', 1, 41943040, '${AT}', '${AT}', 'operator');
        insert into mail_messages (key, mailbox_id, uidvalidity, uid, taken_uid, taken_at, last_seen_at)
          values ('${'e'.repeat(64)}', 3, 1, 12, 11, '${AT}', '${AT}');
        insert into mail_refusals values (3, 1, 13, 2000, 'no documents', '${AT}'), (3, 2, 4, 90, 'sender', '${AT}');
        insert into document_mail (document_id, mailbox_id, from_text, subject, received_at)
          select id, 3, 'Ñandú <a@example.com>', 'Factura "1"', '${AT}' from documents order by id limit 2`)
    }
    if (schema > 25) {
      db.exec(`
        update mailboxes set left_out = 2, ignore_names = 'logo*.png';
        update document_mail set note = 'no_invoice';
        insert into mail_left values (3, 1, 14, 900, '${AT}', 'Ñandú', 'Factura', null, '[{"name":"ñ","reason":"empty"}]')`)
    }
    if (schema > 10) {
      db.exec(`
        insert into contents (sha256, object, size, created_at)
          select sha256, null, max(size), min(created_at) from attachments group by sha256;
        insert into removed_objects values ('${hashText('removed')}', '${AT}');
      `)
    }
  })()
  db.close()
  return { contents: [...new Set(contents)].sort(), altered, missing, knownLost }
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
