// The question before a one-time link is taken, in Spanish. It comes with that screen.

export const ES_LINK = {
  askTitle: (name: string) => `¿Entrar como «${name}»?`,
  askKey: 'Esta clave da acceso a los tipos de cambio y al estado.',
  askToken: (company: string) => `Este token da acceso a los documentos de ${company}.`,
  askReplaces: (name: string) => `Reemplaza la sesión abierta de «${name}».`,
  askCare: 'Acepte solo si usted mismo pidió este enlace.',
  cancel: 'No entrar',
  codeGone: 'Este enlace ya se usó o venció. Pida otro con «cambista web».',
}

export type LinkTexts = typeof ES_LINK
