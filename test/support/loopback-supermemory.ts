import {
  type LoopbackService,
  ranked,
  type ServiceAnswer,
  type ServiceFaults,
  type ServiceRequest,
  startService,
} from './loopback-service.ts';

interface Document {
  id: string;
  content: string;
  tag: string;
  metadata: Record<string, unknown> | null;
  instant: boolean;
  looks: number;
  failed: boolean;
  dropped: boolean;
}

const AT = '2025-01-01T00:00:00.000Z';

/**
 * A double of Supermemory's API (documents v3, memories and search v4): documents that are done some looks later, one
 * memory a document with its text, pages of both, search in three modes, and deletion of a container.
 */
export async function startLoopbackSupermemory(options: {
  apiKey: string;
  faults?: ServiceFaults;
}): Promise<LoopbackService> {
  const faults = options.faults ?? {};
  let documents: Document[] = [];
  let count = 0;

  const done = ({ looks, failed }: Document) => !failed && looks > (faults.looksUntilDone ?? 0);
  const status = (document: Document) => {
    if (done(document)) return 'done';
    return document.failed ? 'failed' : 'indexing';
  };
  const kept = (tag: string) => documents.filter((one) => one.tag === tag && !one.dropped);
  /** Memories come from what is processed by itself; in groups they would come later. */
  const known = (tag: string) => kept(tag).filter((one) => one.instant && done(one));

  function add({ body }: ServiceRequest): ServiceAnswer {
    const document: Document = {
      id: `document-${count++}`,
      content: body.content,
      tag: body.containerTag,
      metadata: body.metadata ?? null,
      instant: body.dreaming === 'instant',
      looks: 0,
      failed: body.content === faults.fails,
      dropped: body.content === faults.drops,
    };
    documents.push(document);
    return { body: { id: document.id, status: 'queued' } };
  }

  function page<T>(items: readonly T[], { limit = 10, page: asked = 1 }: { limit?: number; page?: number }) {
    const pagination = {
      currentPage: asked,
      limit,
      totalItems: items.length,
      totalPages: Math.ceil(items.length / limit),
    };
    return { items: items.slice((asked - 1) * limit, asked * limit), pagination };
  }

  function listDocuments({ body }: ServiceRequest): ServiceAnswer {
    for (const one of documents.filter(({ tag }) => tag === body.containerTags[0])) one.looks++;
    const { items, pagination } = page(kept(body.containerTags[0]).reverse(), body);
    const memories = items.map((one) => ({
      id: one.id,
      status: status(one),
      metadata: one.metadata,
      createdAt: AT,
      updatedAt: AT,
      ...(body.includeContent ? { content: one.content } : {}),
    }));
    return { body: { memories, pagination } };
  }

  function listMemories({ body }: ServiceRequest): ServiceAnswer {
    const { items, pagination } = page(known(body.containerTags[0]), body);
    const memoryEntries = items.map((one) => ({
      id: `memory-${one.id}`,
      memory: one.content,
      version: 1,
      isLatest: true,
      isForgotten: false,
      documentIds: [one.id],
      createdAt: AT,
      updatedAt: AT,
    }));
    return { body: { memoryEntries, pagination } };
  }

  function search({ body }: ServiceRequest): ServiceAnswer {
    const asChunk = body.searchMode === 'documents';
    const own = ranked(known(body.containerTag), { query: body.q, k: body.limit }, ({ content }) => content);
    const others = faults.leaks ? documents.filter(({ tag }) => tag !== body.containerTag && tag !== '') : [];
    const hits = [...others.slice(0, 1).map((item) => ({ item, score: 1 })), ...own];
    const results = hits
      .filter(({ score }) => score >= (body.threshold ?? 0.6))
      .slice(0, body.limit)
      .map(({ item, score }) => ({
        id: `memory-${item.id}`,
        ...(asChunk ? { chunk: item.content } : { memory: item.content }),
        similarity: score,
        metadata: item.metadata,
        updatedAt: AT,
        // A piece of a document comes without the document.
        ...(body.include?.documents && !asChunk ? { documents: [{ id: item.id, createdAt: AT, updatedAt: AT }] } : {}),
      }));
    return { body: { results, timing: 1, total: results.length } };
  }

  function remove(tag: string): ServiceAnswer {
    const held = documents.filter((one) => one.tag === tag);
    if (held.length === 0) return { status: 404, body: { error: 'container tag not found' } };
    if (!faults.keepsAll) documents = documents.filter((one) => one.tag !== tag);
    return {
      body: {
        success: true,
        containerTag: tag,
        deletedDocumentsCount: held.length,
        deletedMemoriesCount: held.length,
      },
    };
  }

  const answer = (request: ServiceRequest): ServiceAnswer => {
    const { method, path } = request;
    const tag = /^\/v3\/container-tags\/([^/]+)$/.exec(path)?.[1];
    if (method === 'DELETE' && tag !== undefined) return remove(tag);
    const routes: Record<string, (request: ServiceRequest) => ServiceAnswer> = {
      'POST /v3/documents': add,
      'POST /v3/documents/list': listDocuments,
      'POST /v4/memories/list': listMemories,
      'POST /v4/search': search,
    };
    return routes[`${method} ${path}`]?.(request) ?? { status: 404, body: { error: 'no route' } };
  };
  const keyOf = ({ authorization = '' }: ServiceRequest['headers']) => authorization.replace(/^Bearer /, '');
  return startService({ apiKey: options.apiKey, keyOf, answer, faults });
}
