import { type DrawingReply, drawingTaskSchema } from '../../core/protocol/run/pool-task.ts';
import { messageOf } from '../../core/text/errors.ts';
import { drawMolecule } from '../data/molecules/drawing.ts';
import { loadRdkit } from '../data/molecules/fingerprint-block.ts';
import { onQuestion, tellHub } from '../session/hub-link.ts';
import { stackOf } from '../project/explain-error.ts';

/**
 * Entry of the process that draws molecules, for as long as the hub asks it. Each message is a task, and is answered by
 * a reply.
 */

async function draw(message: unknown): Promise<DrawingReply> {
  try {
    const { smiles } = drawingTaskSchema.parse(message);
    const rdkit = await loadRdkit();
    return { type: 'drawn', drawings: smiles.map((text) => drawMolecule(rdkit, text)) };
  } catch (error) {
    return { type: 'failed', message: messageOf(error), stack: stackOf(error) };
  }
}

onQuestion((message) => void draw(message).then(tellHub));
