// Loops over items in threads. Items are independent and each writes its own row, so the result
// depends neither on the number of threads nor on which thread takes which item.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace wellput {

// Calls body(begin, end) on chunks of [0, n). Every worker thread has its own copy of `body`, so the
// values that `body` holds are the thread's scratch space.
template <typename Body>
void parallel_for(std::size_t n, int threads, Body body, std::size_t chunk = 64) {
    const std::size_t chunks = (n + chunk - 1) / chunk;
    const std::size_t workers =
        std::min<std::size_t>(chunks, static_cast<std::size_t>(std::max(threads, 1)));
    if (workers <= 1) {
        if (n) body(std::size_t{0}, n);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto work = [&] {
        try {
            Body own(body);
            for (std::size_t c; (c = next.fetch_add(1)) < chunks;)
                own(c * chunk, std::min(n, (c + 1) * chunk));
        } catch (...) {
            std::lock_guard<std::mutex> hold(failure_lock);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<std::thread> pool;
    pool.reserve(workers - 1);
    try {
        for (std::size_t w = 1; w < workers; ++w) pool.emplace_back(work);
    } catch (...) {
        // The system gives no more threads: the running ones do all the work.
    }
    work();
    for (auto& thread : pool) thread.join();
    if (failure) std::rethrow_exception(failure);
}

// Calls visit(own, i) for every item i of [0, n); `own` is the worker's copy of `scratch`.
template <typename Scratch, typename Visit>
void for_items(std::size_t n, int threads, const Scratch& scratch, Visit visit,
               std::size_t chunk = 64) {
    parallel_for(
        n, threads,
        [&visit, own = scratch](std::size_t begin, std::size_t end) mutable {
            for (std::size_t i = begin; i < end; ++i) visit(own, i);
        },
        chunk);
}

}  // namespace wellput
