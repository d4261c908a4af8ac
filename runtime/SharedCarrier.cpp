//===- SharedCarrier.cpp - Collectives in shared memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A round of a call, between meetings of all ranks (|):
//
//   show the call | compare the calls
//   per piece:    write what is staged | copy or sum what peers hold
//                 all_reduce: | copy what peers have summed
//   | done
//
// A piece that nobody stages needs no meeting before it is read: the first one
// was enough. The meeting of a staged piece also says that the piece before it
// has been read, so two staging buffers suffice. After the last meeting nobody
// reads buffers of this call any more.
//
// An all_reduce may be in place: rank r alone reads chunk r of every input, and
// writes it before anybody reads it as a result.
//
// Tested by test/unit/runtime/ShmProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/SharedCarrier.h"

#include "runtime/Collectives.h"
#include "runtime/Reduce.h"
#include "runtime/SharedPieces.h"

#include <algorithm>
#include <cstring>

using namespace sfsdp::runtime;

namespace {

class SharedCarrier final : public Carrier {
public:
  SharedCarrier(SharedGroupView seen, std::chrono::milliseconds timeout)
      : view(std::move(seen)), size(static_cast<int>(view.members.size())),
        rank(view.place), meeting(view.own->meeting, rank, meetingMembers(view),
                                  view.hasLeft, timeout),
        calls(size), followed(size), inputs(size) {}

  /// Peers that wait for this rank need not wait for their timeout.
  ~SharedCarrier() override { (void)meeting.fail(ownName() + " has left"); }

  std::string_view transport() const override { return "shm"; }
  std::shared_ptr<PeerMemory> peerMemory() const override {
    return view.memory;
  }

  int64_t stagedBytes() const override { return copied; }

  Status carryOut(const CollectiveCall &call) override;

  void interrupt(const std::string &reason) override {
    (void)meeting.fail(ownName() + " aborted: " + reason);
  }

  /// Nothing touches a call's buffers without the mutex.
  void settle() override { std::lock_guard<std::mutex> lock(touching); }

private:
  static std::vector<SharedMeeting::Member>
  meetingMembers(const SharedGroupView &view) {
    std::vector<SharedMeeting::Member> members;
    for (const SharedGroupView::Member &member : view.members) {
      members.push_back({member.rank, &member.block->meeting});
    }
    return members;
  }

  std::string nameOfMember(int member) const {
    return "rank " + std::to_string(view.members[member].rank);
  }
  std::string ownName() const { return nameOfMember(rank); }

  Status carryOutRound(const CollectiveCall &call, int64_t first,
                       int64_t count);
  Status readCalls();
  Status compareCalls();
  void cut();
  Status carry(const SharedPiece &piece, int turn);

  void stage(const SharedPart &part, int turn);
  void take(const SharedPart &part, int turn);
  void sum(const SharedPart &part, int turn);
  void spread(const SharedPart &part, int turn);

  const CollectiveMember &own(const SharedPart &part) const {
    return calls[rank].members[part.member];
  }
  /// The part's place in chunk `chunk` of its member, in elements.
  int64_t placeIn(const SharedPart &part, int64_t chunk) const {
    return chunk * chunkCount(calls[rank].kind, own(part), size) + part.first;
  }
  /// Elements of the part that chunk `chunk` of an input has.
  int64_t validIn(const SharedPart &part, int64_t chunk) const {
    int64_t left = own(part).inputCount - placeIn(part, chunk);
    return std::clamp<int64_t>(left, 0, part.count);
  }
  const void *source(const SharedPart &part, int other, int chunk,
                     int turn) const;

  void copyStaged(void *target, const void *source, int64_t bytes) {
    copyBytes(target, source, bytes);
    copied += bytes;
  }

  /// Runs `touch`, which reads and writes buffers, unless the group failed.
  template <typename Touch>
  Status guarded(Touch touch) {
    std::lock_guard<std::mutex> lock(touching);
    if (Status status = meeting.failure(); !status.ok()) {
      return status;
    }
    touch();
    return {};
  }

  const SharedGroupView view;
  const int size;
  const int rank;
  SharedMeeting meeting;
  std::mutex touching;
  std::atomic<int64_t> copied = 0; ///< into staging buffers

  // Of the round under way; the lane's.
  std::vector<CollectiveCall> calls; ///< by member; null buffers are staged
  std::vector<int64_t> followed;     ///< by member: members of later rounds
  std::vector<bool> staged;          ///< by tensor: by any rank
  std::vector<bool> stagedHere;      ///< by tensor: its input, by this rank
  std::vector<const void *> inputs;  ///< of a sum
  SharedPieces pieces;
};

//===----------------------------------------------------------------------===//
// Showing and comparing
//===----------------------------------------------------------------------===//

Status SharedCarrier::carryOut(const CollectiveCall &call) {
  auto members = static_cast<int64_t>(call.members.size());
  Status status;
  for (int64_t first = 0; first < members && status.ok();
       first += kMembersPerRound) {
    int64_t count = std::min(members - first, kMembersPerRound);
    status = carryOutRound(call, first, count);
  }
  return status;
}

Status SharedCarrier::carryOutRound(const CollectiveCall &call, int64_t first,
                                    int64_t count) {
  writeRecord(call, first, count, *view.members[rank].arena, *view.own);
  if (Status status = meeting.meet(); !status.ok()) {
    return status;
  }
  Status status = readCalls();
  if (status.ok()) {
    status = compareCalls();
  }
  if (!status.ok()) {
    return meeting.fail(status.message());
  }
  cut();
  // From here on this rank's own buffers are those of the call, staged or not.
  std::copy_n(call.members.begin() + first, count, calls[rank].members.begin());
  int turn = 0;
  for (const SharedPiece &piece : pieces.pieces) {
    if (status = carry(piece, turn); !status.ok()) {
      return status;
    }
    turn = (turn + 1) % kStagingTurns;
  }
  return meeting.meet();
}

Status SharedCarrier::readCalls() {
  for (int other = 0; other < size; ++other) {
    const SharedGroupView::Member &member = view.members[other];
    Status status =
        readRecord(*member.block, *member.arena, calls[other], followed[other]);
    if (!status.ok()) {
      return status.within(nameOfMember(other));
    }
  }
  return {};
}

/// Compares all calls with the first rank's, so that all ranks say the same.
Status SharedCarrier::compareCalls() {
  for (int other = 1; other < size; ++other) {
    CallDifference found = difference(calls[0], calls[other]);
    if (!found.any() && followed[0] != followed[other]) {
      found = {"the number of members behind the first " +
                   std::to_string(kMembersPerRound),
               std::to_string(followed[0]), std::to_string(followed[other])};
    }
    if (found.any()) {
      return Status::error("ranks disagree on " + found.what + ": " +
                           nameOfMember(0) + " has " + found.first + ", " +
                           nameOfMember(other) + " has " + found.second +
                           "; all ranks must run the same plan");
    }
  }
  return {};
}

/// Cuts the round into pieces, the same ones on all ranks.
void SharedCarrier::cut() {
  const CollectiveCall &shown = calls[rank];
  bool showsResults = shown.kind == CollectiveKind::AllReduce;
  staged.assign(shown.members.size(), false);
  stagedHere.assign(shown.members.size(), false);
  for (size_t i = 0; i < shown.members.size(); ++i) {
    stagedHere[i] = !shown.members[i].input;
    for (int other = 0; other < size; ++other) {
      const CollectiveMember &member = calls[other].members[i];
      bool isRead =
          shown.kind != CollectiveKind::Broadcast || other == shown.root;
      staged[i] = staged[i] || (isRead && !member.input) ||
                  (showsResults && !member.output);
    }
  }
  cutIntoPieces(shown, size, staged, kStagingBytes, pieces);
}

//===----------------------------------------------------------------------===//
// Moving data
//===----------------------------------------------------------------------===//

Status SharedCarrier::carry(const SharedPiece &piece, int turn) {
  auto forEachPart = [&](void (SharedCarrier::*act)(const SharedPart &, int)) {
    return guarded([&] {
      for (const SharedPart &part : pieces.partsOf(piece)) {
        (this->*act)(part, turn);
      }
    });
  };
  Status status;
  if (piece.staged) {
    status = forEachPart(&SharedCarrier::stage);
    status = status.ok() ? meeting.meet() : status;
  }
  if (status.ok()) {
    status = forEachPart(&SharedCarrier::take);
  }
  if (status.ok() && calls[rank].kind == CollectiveKind::AllReduce) {
    status = meeting.meet();
    status = status.ok() ? forEachPart(&SharedCarrier::spread) : status;
  }
  return status;
}

/// Copies what peers will read of an input that is not in the arena.
void SharedCarrier::stage(const SharedPart &part, int turn) {
  if (!stagedHere[part.member]) {
    return;
  }
  const CollectiveCall &call = calls[rank];
  const CollectiveMember &member = own(part);
  int64_t bytes = byteSize(member.dtype);
  std::byte *target = view.own->inputs[turn] + part.staging;
  bool isRoot = call.kind == CollectiveKind::Broadcast && call.root == rank;
  if (call.kind == CollectiveKind::AllGather || isRoot) {
    copyStaged(target, at(member.input, part.first * bytes),
               part.count * bytes);
  }
  if (stagedBlocks(call.kind, size) == 1) {
    return;
  }
  for (int other = 0; other < size; ++other) {
    if (other != rank) {
      copyStaged(target + other * part.count * bytes,
                 at(member.input, placeIn(part, other) * bytes),
                 validIn(part, other) * bytes);
    }
  }
}

/// Where the input of `other` for chunk `chunk` can be read.
const void *SharedCarrier::source(const SharedPart &part, int other, int chunk,
                                  int turn) const {
  const CollectiveMember &member = calls[other].members[part.member];
  int64_t bytes = byteSize(member.dtype);
  if (member.input) {
    return at(member.input, placeIn(part, chunk) * bytes);
  }
  return view.members[other].block->inputs[turn] + part.staging +
         chunk * part.count * bytes;
}

void SharedCarrier::take(const SharedPart &part, int turn) {
  const CollectiveCall &call = calls[rank];
  const CollectiveMember &member = own(part);
  int64_t bytes = byteSize(member.dtype);
  if (isReduction(call.kind)) {
    sum(part, turn);
    return;
  }
  if (call.kind == CollectiveKind::Broadcast) {
    copyBytes(at(member.output, part.first * bytes),
              source(part, call.root, 0, turn), part.count * bytes);
    return;
  }
  int chunk = call.kind == CollectiveKind::AllToAll ? rank : 0;
  for (int other = 0; other < size; ++other) {
    copyBytes(at(member.output, placeIn(part, other) * bytes),
              source(part, other, chunk, turn), part.count * bytes);
  }
}

/// Sums this rank's chunk: to the start of a reduce_scatter's output, to its
/// place in an all_reduce's.
void SharedCarrier::sum(const SharedPart &part, int turn) {
  const CollectiveCall &call = calls[rank];
  const CollectiveMember &member = own(part);
  int64_t bytes = byteSize(member.dtype);
  bool scatters = call.kind == CollectiveKind::ReduceScatter;
  void *output =
      at(member.output, (scatters ? part.first : placeIn(part, rank)) * bytes);
  int64_t valid = validIn(part, rank);
  if (valid > 0) {
    for (int other = 0; other < size; ++other) {
      inputs[other] = source(part, other, rank, turn);
    }
    sumInRankOrder(inputs, output, valid, member.dtype, call.divisor,
                   call.grouped);
  }
  if (scatters) {
    std::memset(at(output, valid * bytes), 0, (part.count - valid) * bytes);
    return;
  }
  if (staged[part.member]) {
    copyStaged(view.own->results[turn] + part.staging, output, valid * bytes);
  }
}

/// Copies what the other ranks have summed.
void SharedCarrier::spread(const SharedPart &part, int turn) {
  const CollectiveMember &member = own(part);
  int64_t bytes = byteSize(member.dtype);
  for (int other = 0; other < size; ++other) {
    if (other == rank) {
      continue;
    }
    int64_t place = placeIn(part, other) * bytes;
    const void *summed =
        view.members[other].block->results[turn] + part.staging;
    if (!staged[part.member]) {
      summed = at(calls[other].members[part.member].output, place);
    }
    copyBytes(at(member.output, place), summed, validIn(part, other) * bytes);
  }
}

} // namespace

std::unique_ptr<Carrier>
sfsdp::runtime::makeSharedCarrier(SharedGroupView view,
                                  std::chrono::milliseconds timeout) {
  return std::make_unique<SharedCarrier>(std::move(view), timeout);
}
