//===- ZipLocalHeaders.cpp - What stands before and after contents -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes stand up to three times (central header, local header, descriptor), and
// programs that believe different ones see different contents; here all must
// agree. torch writes local sizes of 0 and a descriptor.
//
// Tested by test/unit/runtime/ArchiveTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/ZipFormat.h"

#include <algorithm>

using namespace sfsdp::runtime;
using namespace sfsdp::runtime::zip;

namespace {

constexpr uint32_t kDescriptorSignature = 0x08074b50;
constexpr size_t kLocalBytes = 30;
constexpr uint64_t kLargestDescriptorBytes = 24;

/// A local header, its extra fields applied.
struct LocalHeader {
  uint32_t signature = 0;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint64_t crc = 0;
  uint64_t storedSize = 0;
  uint64_t size = 0;
  std::string name;
  uint64_t bytes = 0; ///< of the whole header
};

/// The bytes of the file that one entry covers.
struct Extent {
  uint64_t begin = 0;
  uint64_t end = 0;
  const Entry *entry = nullptr;
};

Expected<LocalHeader> readLocalHeader(const InputFile &file,
                                      const Entry &entry) {
  uint64_t fixedBytes = kLocalBytes + entry.name.size();
  Expected<std::string> bytes = bytesAt(file, entry.localOffset, fixedBytes);
  if (!bytes) {
    return bytes.status();
  }
  Fields fields(*bytes);
  LocalHeader header;
  header.signature = fields.u32();
  fields.u16(); // version
  header.flags = fields.u16();
  header.method = fields.u16();
  fields.u32(); // time
  header.crc = fields.u32();
  header.storedSize = fields.u32();
  header.size = fields.u32();
  uint16_t nameBytes = fields.u16();
  uint16_t extraBytes = fields.u16();
  header.name = fields.text(nameBytes);
  header.bytes = fixedBytes + extraBytes;
  Expected<std::string> extra =
      bytesAt(file, entry.localOffset + fixedBytes, extraBytes);
  if (!extra) {
    return extra.status();
  }
  if (!fields.ok || fields.left() > 0 ||
      !readZip64Extra(Fields(*extra), {&header.size, &header.storedSize})) {
    return damagedEntry(file, entry, "has a damaged local header");
  }
  return header;
}

/// Whether a local header says the same as the central one. With a descriptor,
/// 0 says "see there".
bool agrees(const LocalHeader &local, const Entry &entry) {
  auto same = [&](uint64_t value, uint64_t central) {
    bool later = (entry.flags & kDescriptorFlag) && value == 0;
    return value == central || later;
  };
  return local.signature == kLocalSignature && local.flags == entry.flags &&
         local.method == entry.method && local.name == entry.name &&
         same(local.crc, entry.crc) && same(local.size, entry.size) &&
         same(local.storedSize, entry.storedSize);
}

/// Where the entry ends, whose content ends at `contentEnd`. A descriptor has
/// sizes of 4 or 8 bytes and may lack its signature, and nothing says which
/// form it has.
Expected<uint64_t> skipDescriptor(const InputFile &file, const Entry &entry,
                                  uint64_t contentEnd) {
  if (!(entry.flags & kDescriptorFlag)) {
    return contentEnd;
  }
  uint64_t size = std::min(kLargestDescriptorBytes, file.size() - contentEnd);
  Expected<std::string> bytes = bytesAt(file, contentEnd, size);
  if (!bytes) {
    return bytes.status();
  }
  for (bool isLarge : {true, false}) {
    for (bool hasSignature : {true, false}) {
      Fields fields(*bytes);
      bool same = !hasSignature || fields.u32() == kDescriptorSignature;
      same &= fields.u32() == entry.crc;
      same &= (isLarge ? fields.u64() : fields.u32()) == entry.storedSize;
      same &= (isLarge ? fields.u64() : fields.u32()) == entry.size;
      if (same && fields.ok) {
        return contentEnd + (bytes->size() - fields.left());
      }
    }
  }
  return damagedEntry(file, entry, "contradicts its descriptor");
}

Status checkDisjoint(const InputFile &file, std::vector<Extent> extents) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent &a, const Extent &b) { return a.begin < b.begin; });
  uint64_t free = 0;
  for (const Extent &extent : extents) {
    if (extent.begin < free) {
      return damagedEntry(file, *extent.entry, "overlaps another");
    }
    free = extent.end;
  }
  return Status();
}

} // namespace

Expected<std::vector<Record>>
zip::readLocalHeaders(const InputFile &file, const std::vector<Entry> &entries,
                      const Directory &directory) {
  std::vector<Extent> extents;
  std::vector<Record> records;
  for (const Entry &entry : entries) {
    Expected<LocalHeader> header = readLocalHeader(file, entry);
    if (!header) {
      return header.status();
    }
    if (!agrees(*header, entry)) {
      return damagedEntry(file, entry, "contradicts its local header");
    }
    uint64_t content = entry.localOffset + header->bytes;
    if (content > directory.offset ||
        entry.storedSize > directory.offset - content) {
      return damagedEntry(file, entry, "runs into the central directory");
    }
    Expected<uint64_t> end =
        skipDescriptor(file, entry, content + entry.storedSize);
    if (!end) {
      return end.status();
    }
    if (*end > directory.offset) {
      return damagedEntry(file, entry, "runs into the central directory");
    }
    extents.push_back({entry.localOffset, *end, &entry});
    if (!entry.name.ends_with('/')) {
      records.push_back(
          {entry.name, content, entry.size, entry.crc, entry.method});
    }
  }
  if (Status status = checkDisjoint(file, std::move(extents)); !status.ok()) {
    return status;
  }
  return records;
}
