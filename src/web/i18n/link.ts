// Texts of the confirmation of a one-time link, loaded with it.

import { textTable } from './table.ts'

export const LINK = textTable({
  askTitle: (name: string) => [`¿Entrar como «${name}»?`, `Sign in as “${name}”?`],
  askKey: [
    'Esta clave da acceso a los tipos de cambio y al estado.',
    'This key opens exchange rates and status.',
  ],
  askToken: (company: string) => [
    `Este token da acceso a los documentos de ${company}.`,
    `This token opens the documents of ${company}.`,
  ],
  askReplaces: (name: string) => [
    `Reemplaza la sesión abierta de «${name}».`,
    `It replaces the open session of “${name}”.`,
  ],
  askCare: [
    'Acepte solo si usted mismo pidió este enlace.',
    'Accept only if you asked for this link yourself.',
  ],
  cancel: ['No entrar', 'Do not sign in'],
  codeGone: [
    'Este enlace ya se usó o venció. Pida otro con «cambista web».',
    'This link was used already, or is too old. Ask for another with “cambista web”.',
  ],
})
