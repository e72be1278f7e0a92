"""Writes workers/onnx/format/descriptor.ts: the schema of ONNX files (onnx-ml.proto), from the package onnx 1.23.2.

    python3 -m pip install onnx==1.23.2 && python3 scripts/generate/onnx-schema.py
"""

import base64
import pathlib

import onnx
from google.protobuf import descriptor_pb2
from onnx import onnx_ml_pb2

schema = descriptor_pb2.FileDescriptorProto()
onnx_ml_pb2.DESCRIPTOR.CopyToProto(schema)
schema.ClearField("source_code_info")
encoded = base64.b64encode(schema.SerializeToString(deterministic=True)).decode()

path = pathlib.Path(__file__).parent.parent.parent / "workers/onnx/format/descriptor.ts"
path.write_text(f"""/**
 * The schema of ONNX files, onnx-ml.proto of the package onnx {onnx.__version__}: a FileDescriptorProto in base64, without comments.
 * Written by scripts/generate/onnx-schema.py.
 */
export const onnxSchema =
  '{encoded}';
""")
